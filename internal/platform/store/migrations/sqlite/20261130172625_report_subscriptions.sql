-- Create "report_subscriptions" table
CREATE TABLE `report_subscriptions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `query` text NOT NULL DEFAULT (''), `next_at` datetime NOT NULL, `user_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `report_subscriptions_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `report_subscriptions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "reportsubscription_company_id_created_at_id" to table: "report_subscriptions"
CREATE INDEX `reportsubscription_company_id_created_at_id` ON `report_subscriptions` (`company_id`, `created_at`, `id`);
-- Create index "reportsubscription_company_id_user_id" to table: "report_subscriptions"
CREATE INDEX `reportsubscription_company_id_user_id` ON `report_subscriptions` (`company_id`, `user_id`);
