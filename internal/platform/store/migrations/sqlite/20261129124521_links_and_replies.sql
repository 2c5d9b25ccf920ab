-- Add columns by hand: a copy of the tables would drop their triggers
ALTER TABLE `offerings` ADD COLUMN `ask_satisfaction` bool NOT NULL DEFAULT false;
ALTER TABLE `requests` ADD COLUMN `satisfaction` integer NULL;
ALTER TABLE `requests` ADD COLUMN `satisfaction_comment` text NULL;
ALTER TABLE `requests` ADD COLUMN `satisfaction_asked_at` datetime NULL;
ALTER TABLE `requests` ADD COLUMN `satisfaction_at` datetime NULL;
-- Create index "request_company_id_satisfaction_created_at_id" to table: "requests"
CREATE INDEX `request_company_id_satisfaction_created_at_id` ON `requests` (`company_id`, `satisfaction`, `created_at`, `id`) WHERE satisfaction IS NOT NULL;
-- Create "request_links" table
CREATE TABLE `request_links` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `type` text NOT NULL, `created_by` text NOT NULL, `from_id` text NOT NULL, `to_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `request_links_requests_from` FOREIGN KEY (`company_id`, `from_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `request_links_requests_to` FOREIGN KEY (`company_id`, `to_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `request_links_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "requestlink_company_id_from_id_to_id_type" to table: "request_links"
CREATE UNIQUE INDEX `requestlink_company_id_from_id_to_id_type` ON `request_links` (`company_id`, `from_id`, `to_id`, `type`);
-- Create index "requestlink_company_id_to_id" to table: "request_links"
CREATE INDEX `requestlink_company_id_to_id` ON `request_links` (`company_id`, `to_id`);
-- Create "saved_replies" table
CREATE TABLE `saved_replies` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `scope` text NOT NULL, `body` text NOT NULL, `user_id` text NOT NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `saved_replies_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `saved_replies_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `saved_replies_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "savedreply_company_id_created_at_id" to table: "saved_replies"
CREATE INDEX `savedreply_company_id_created_at_id` ON `saved_replies` (`company_id`, `created_at`, `id`);
-- Create index "savedreply_company_id_user_id" to table: "saved_replies"
CREATE INDEX `savedreply_company_id_user_id` ON `saved_replies` (`company_id`, `user_id`);
-- Create index "savedreply_company_id_team_id" to table: "saved_replies"
CREATE INDEX `savedreply_company_id_team_id` ON `saved_replies` (`company_id`, `team_id`);
