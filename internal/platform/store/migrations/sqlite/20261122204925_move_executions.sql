-- Create index "execution_updated_at_id" to table: "executions"
CREATE INDEX `execution_updated_at_id` ON `executions` (`updated_at`, `id`);
-- Add column "to_version" to table: "incidents"
ALTER TABLE `incidents` ADD COLUMN `to_version` integer NULL;
-- Add column "to_phase_id" to table: "incidents"
ALTER TABLE `incidents` ADD COLUMN `to_phase_id` text NULL;
-- Create index "task_updated_at_id" to table: "tasks"
CREATE INDEX `task_updated_at_id` ON `tasks` (`updated_at`, `id`);
