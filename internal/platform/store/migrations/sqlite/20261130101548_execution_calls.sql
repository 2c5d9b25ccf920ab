-- Add columns to table: "executions"
ALTER TABLE `executions` ADD COLUMN `parent_id` text NULL;
ALTER TABLE `executions` ADD COLUMN `parent_phase_id` text NULL;
ALTER TABLE `executions` ADD COLUMN `parent_branch` text NULL;
ALTER TABLE `executions` ADD COLUMN `parent_visit` integer NULL;
ALTER TABLE `executions` ADD COLUMN `parent_attempt` integer NULL;
ALTER TABLE `executions` ADD COLUMN `root_id` text NULL;
ALTER TABLE `executions` ADD COLUMN `depth` integer NOT NULL DEFAULT (0);
ALTER TABLE `executions` ADD COLUMN `input` json NULL;
-- Create index "execution_company_id_parent_id_parent_visit_parent_attempt" to table: "executions"
CREATE UNIQUE INDEX `execution_company_id_parent_id_parent_visit_parent_attempt` ON `executions` (`company_id`, `parent_id`, `parent_visit`, `parent_attempt`);
-- Create index "execution_company_id_root_id" to table: "executions"
CREATE INDEX `execution_company_id_root_id` ON `executions` (`company_id`, `root_id`);
