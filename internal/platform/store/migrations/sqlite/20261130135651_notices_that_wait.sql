-- Add column "mailed_at" to table: "notifications"
ALTER TABLE `notifications` ADD COLUMN `mailed_at` datetime NULL;
-- Add column "held" to table: "notifications"
ALTER TABLE `notifications` ADD COLUMN `held` json NULL;
