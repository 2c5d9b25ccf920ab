-- Create "schedules" table
CREATE TABLE `schedules` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `request` json NULL, `cron` text NULL, `every` json NULL, `time_zone` text NOT NULL, `on_closed` text NOT NULL DEFAULT ('SKIP'), `missed` text NOT NULL DEFAULT ('ONCE'), `enabled` bool NOT NULL DEFAULT (true), `next_run_at` datetime NULL, `runs_as` text NOT NULL, `created_by` text NOT NULL, `workflow_id` text NULL, `offering_id` text NULL, `calendar_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `schedules_workflows_workflow` FOREIGN KEY (`company_id`, `workflow_id`) REFERENCES `workflows` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `schedules_offerings_offering` FOREIGN KEY (`company_id`, `offering_id`) REFERENCES `offerings` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `schedules_calendars_calendar` FOREIGN KEY (`company_id`, `calendar_id`) REFERENCES `calendars` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `schedules_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "schedule_company_id_created_at_id" to table: "schedules"
CREATE INDEX `schedule_company_id_created_at_id` ON `schedules` (`company_id`, `created_at`, `id`);
-- Create index "schedule_company_id_workflow_id" to table: "schedules"
CREATE INDEX `schedule_company_id_workflow_id` ON `schedules` (`company_id`, `workflow_id`);
-- Create index "schedule_company_id_offering_id" to table: "schedules"
CREATE INDEX `schedule_company_id_offering_id` ON `schedules` (`company_id`, `offering_id`);
-- Create index "schedule_company_id_calendar_id" to table: "schedules"
CREATE INDEX `schedule_company_id_calendar_id` ON `schedules` (`company_id`, `calendar_id`);
-- Create index "schedules_company_id_id" to table: "schedules"
CREATE UNIQUE INDEX `schedules_company_id_id` ON `schedules` (`company_id`, `id`);
-- Create "schedule_runs" table
CREATE TABLE `schedule_runs` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `planned_at` datetime NOT NULL, `started_at` datetime NULL, `status` text NOT NULL, `reason` text NULL, `execution_id` text NULL, `request_id` text NULL, `schedule_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `schedule_runs_schedules_schedule` FOREIGN KEY (`company_id`, `schedule_id`) REFERENCES `schedules` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `schedule_runs_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "schedulerun_company_id_schedule_id_planned_at" to table: "schedule_runs"
CREATE UNIQUE INDEX `schedulerun_company_id_schedule_id_planned_at` ON `schedule_runs` (`company_id`, `schedule_id`, `planned_at`);
-- Create index "schedulerun_company_id_schedule_id_created_at_id" to table: "schedule_runs"
CREATE INDEX `schedulerun_company_id_schedule_id_created_at_id` ON `schedule_runs` (`company_id`, `schedule_id`, `created_at`, `id`);
