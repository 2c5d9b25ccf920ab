-- Add column "decline_reason" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `decline_reason` text NULL;
