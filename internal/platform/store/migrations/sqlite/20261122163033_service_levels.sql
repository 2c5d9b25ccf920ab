-- Columns are added one by one, and not by a rebuild of the tables: their triggers stay.
ALTER TABLE `calendars` ADD COLUMN `exceptions` json NULL;
ALTER TABLE `offerings` ADD COLUMN `sla_by_priority` json NULL;
ALTER TABLE `offerings` ADD COLUMN `sla_escalations` json NULL;
ALTER TABLE `requests` ADD COLUMN `waiting` bool NOT NULL DEFAULT (false);
ALTER TABLE `requests` ADD COLUMN `snoozed_until` datetime NULL;
ALTER TABLE `requests` ADD COLUMN `response_due_at` datetime NULL;
ALTER TABLE `requests` ADD COLUMN `resolution_due_at` datetime NULL;
ALTER TABLE `requests` ADD COLUMN `response_due_order` integer NOT NULL DEFAULT (253402300799999);
ALTER TABLE `requests` ADD COLUMN `resolution_due_order` integer NOT NULL DEFAULT (253402300799999);
ALTER TABLE `requests` ADD COLUMN `sla_state` text NULL;
ALTER TABLE `requests` ADD COLUMN `sla_next_at` datetime NULL;
CREATE INDEX `request_company_id_response_due_order_id` ON `requests` (`company_id`, `response_due_order`, `id`);
CREATE INDEX `request_company_id_resolution_due_order_id` ON `requests` (`company_id`, `resolution_due_order`, `id`);
CREATE INDEX `request_company_id_sla_state_created_at_id` ON `requests` (`company_id`, `sla_state`, `created_at`, `id`) WHERE sla_state IS NOT NULL;
CREATE INDEX `request_sla_next_at` ON `requests` (`sla_next_at`) WHERE sla_next_at IS NOT NULL;
ALTER TABLE `tasks` ADD COLUMN `sla_levels` json NULL;
ALTER TABLE `tasks` ADD COLUMN `claimed_at` datetime NULL;
ALTER TABLE `tasks` ADD COLUMN `response_due_at` datetime NULL;
ALTER TABLE `tasks` ADD COLUMN `resolution_due_at` datetime NULL;
ALTER TABLE `tasks` ADD COLUMN `sla_state` text NULL;
ALTER TABLE `tasks` ADD COLUMN `sla_next_at` datetime NULL;
CREATE INDEX `task_sla_next_at` ON `tasks` (`sla_next_at`) WHERE sla_next_at IS NOT NULL;
-- Create "sla_events" table
CREATE TABLE `sla_events` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `subject_id` text NOT NULL, `kind` text NOT NULL, `key` text NOT NULL, `at` datetime NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `sla_events_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "slaevent_company_id_subject_id_kind_key" to table: "sla_events"
CREATE UNIQUE INDEX `slaevent_company_id_subject_id_kind_key` ON `sla_events` (`company_id`, `subject_id`, `kind`, `key`);
-- The clocks of open requests are derived when the product starts: the sweep finds these.
UPDATE `requests` SET `sla_next_at` = `created_at` WHERE `status` IN ('PENDING', 'IN_PROGRESS') AND EXISTS (SELECT 1 FROM `offerings` o WHERE o.`company_id` = `requests`.`company_id` AND o.`id` = `requests`.`offering_id` AND (o.`response_minutes` IS NOT NULL OR o.`resolution_minutes` IS NOT NULL));
