-- Add column "locale" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `locale` text NULL;
-- Add column "time_zone" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `time_zone` text NULL;
-- Add column "requester_id" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `requester_id` text NULL;
-- Create index "request_company_id_requester_id_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_requester_id_created_at_id` ON `requests` (`company_id`, `requester_id`, `created_at`, `id`);
-- Add column "locale" to table: "users"
ALTER TABLE `users` ADD COLUMN `locale` text NULL;
-- Add column "time_zone" to table: "users"
ALTER TABLE `users` ADD COLUMN `time_zone` text NULL;
