-- Add column "format" to table: "comments"
ALTER TABLE `comments` ADD COLUMN `format` text NOT NULL DEFAULT 'plain';
-- Add column "format" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `format` text NOT NULL DEFAULT 'plain';
-- Create "watchers" table
CREATE TABLE `watchers` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `request_id` text NOT NULL, `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `watchers_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `watchers_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `watchers_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "watcher_company_id_request_id_user_id" to table: "watchers"
CREATE UNIQUE INDEX `watcher_company_id_request_id_user_id` ON `watchers` (`company_id`, `request_id`, `user_id`);
-- Create index "watcher_company_id_user_id_request_id" to table: "watchers"
CREATE INDEX `watcher_company_id_user_id_request_id` ON `watchers` (`company_id`, `user_id`, `request_id`);
