-- Add column "routing_rule_id" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `routing_rule_id` text NULL;
-- Create "routing_rules" table
CREATE TABLE `routing_rules` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `position` integer NOT NULL, `when` text NOT NULL, `assign_to` text NOT NULL DEFAULT ('none'), `priority` text NULL, `enabled` bool NOT NULL DEFAULT (true), `last_assignee_id` text NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `routing_rules_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `routing_rules_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "routingrule_company_id_created_at_id" to table: "routing_rules"
CREATE INDEX `routingrule_company_id_created_at_id` ON `routing_rules` (`company_id`, `created_at`, `id`);
-- Create index "routingrule_company_id_position_created_at_id" to table: "routing_rules"
CREATE INDEX `routingrule_company_id_position_created_at_id` ON `routing_rules` (`company_id`, `position`, `created_at`, `id`);
-- Create index "routingrule_company_id_team_id" to table: "routing_rules"
CREATE INDEX `routingrule_company_id_team_id` ON `routing_rules` (`company_id`, `team_id`);
