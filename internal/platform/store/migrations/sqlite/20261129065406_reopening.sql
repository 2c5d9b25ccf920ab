-- Add column "reopen_days" to table: "offerings"
ALTER TABLE `offerings` ADD COLUMN `reopen_days` integer NOT NULL DEFAULT 7;
-- Add column "reopen_workflow_id" to table: "offerings"
ALTER TABLE `offerings` ADD COLUMN `reopen_workflow_id` text NULL;
-- Add column "reopen_count" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `reopen_count` integer NOT NULL DEFAULT 0;
