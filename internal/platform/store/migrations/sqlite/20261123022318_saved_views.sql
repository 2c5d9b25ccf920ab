-- Create "saved_views" table
CREATE TABLE `saved_views` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `scope` text NOT NULL, `query` text NOT NULL DEFAULT (''), `user_id` text NOT NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `saved_views_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `saved_views_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `saved_views_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "savedview_company_id_created_at_id" to table: "saved_views"
CREATE INDEX `savedview_company_id_created_at_id` ON `saved_views` (`company_id`, `created_at`, `id`);
-- Create index "savedview_company_id_user_id" to table: "saved_views"
CREATE INDEX `savedview_company_id_user_id` ON `saved_views` (`company_id`, `user_id`);
-- Create index "savedview_company_id_team_id" to table: "saved_views"
CREATE INDEX `savedview_company_id_team_id` ON `saved_views` (`company_id`, `team_id`);
