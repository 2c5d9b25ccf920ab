-- Add column "first_response_at" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `first_response_at` datetime NULL;
-- Add column "merged_at" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `merged_at` datetime NULL;
