-- Create "notifications" table
CREATE TABLE `notifications` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `kind` text NOT NULL, `subject` text NOT NULL, `read_at` datetime NULL, `digest_at` datetime NULL, `user_id` text NOT NULL, `request_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `notifications_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `notifications_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `notifications_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "notification_company_id_user_id_created_at_id" to table: "notifications"
CREATE INDEX `notification_company_id_user_id_created_at_id` ON `notifications` (`company_id`, `user_id`, `created_at`, `id`);
-- Create index "notification_company_id_request_id" to table: "notifications"
CREATE INDEX `notification_company_id_request_id` ON `notifications` (`company_id`, `request_id`);
-- Create index "notification_digest_at" to table: "notifications"
CREATE INDEX `notification_digest_at` ON `notifications` (`digest_at`) WHERE digest_at IS NOT NULL;
