-- Add column "bytes_per_minute" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `bytes_per_minute` integer NULL;
-- Add column "bytes_per_day" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `bytes_per_day` integer NULL;
-- Add column "sequence" to table: "events"
ALTER TABLE `events` ADD COLUMN `sequence` integer NULL;
-- Add column "allowed_hosts" to table: "secrets"
ALTER TABLE `secrets` ADD COLUMN `allowed_hosts` json NULL;
-- Add column "execution_id" to table: "notifications"
ALTER TABLE `notifications` ADD COLUMN `execution_id` text NULL;
