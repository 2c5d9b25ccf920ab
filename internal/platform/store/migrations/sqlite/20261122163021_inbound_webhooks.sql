-- Add columns to table: "executions"
ALTER TABLE `executions` ADD COLUMN `inbound_webhook_id` text NULL;
ALTER TABLE `executions` ADD COLUMN `inbound_key` text NULL;
ALTER TABLE `executions` ADD COLUMN `intake` json NULL;
-- Create index "execution_company_id_inbound_webhook_id_inbound_key" to table: "executions"
CREATE UNIQUE INDEX `execution_company_id_inbound_webhook_id_inbound_key` ON `executions` (`company_id`, `inbound_webhook_id`, `inbound_key`);
-- Create "inbound_calls" table
CREATE TABLE `inbound_calls` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `outcome` text NOT NULL, `reason` text NULL, `execution_id` text NULL, `replay_of` text NULL, `headers` json NULL, `body` text NOT NULL DEFAULT (''), `body_bytes` integer NOT NULL DEFAULT (0), `webhook_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `inbound_calls_inbound_webhooks_webhook` FOREIGN KEY (`company_id`, `webhook_id`) REFERENCES `inbound_webhooks` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `inbound_calls_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "inboundcall_company_id_webhook_id_created_at_id" to table: "inbound_calls"
CREATE INDEX `inboundcall_company_id_webhook_id_created_at_id` ON `inbound_calls` (`company_id`, `webhook_id`, `created_at`, `id`);
-- Create index "inboundcall_created_at_id" to table: "inbound_calls"
CREATE INDEX `inboundcall_created_at_id` ON `inbound_calls` (`created_at`, `id`);
-- Create "inbound_webhooks" table
CREATE TABLE `inbound_webhooks` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `field_mapping` json NULL, `signature_style` text NOT NULL DEFAULT ('hex'), `verify_signature` bool NOT NULL DEFAULT (true), `enabled` bool NOT NULL DEFAULT (true), `secret_sealed` blob NOT NULL, `previous_sealed` blob NULL, `previous_until` datetime NULL, `created_by` text NOT NULL, `workflow_id` text NOT NULL, `offering_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `inbound_webhooks_workflows_workflow` FOREIGN KEY (`company_id`, `workflow_id`) REFERENCES `workflows` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `inbound_webhooks_offerings_offering` FOREIGN KEY (`company_id`, `offering_id`) REFERENCES `offerings` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `inbound_webhooks_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "inboundwebhook_company_id_created_at_id" to table: "inbound_webhooks"
CREATE INDEX `inboundwebhook_company_id_created_at_id` ON `inbound_webhooks` (`company_id`, `created_at`, `id`);
-- Create index "inboundwebhook_company_id_workflow_id" to table: "inbound_webhooks"
CREATE INDEX `inboundwebhook_company_id_workflow_id` ON `inbound_webhooks` (`company_id`, `workflow_id`);
-- Create index "inboundwebhook_company_id_offering_id" to table: "inbound_webhooks"
CREATE INDEX `inboundwebhook_company_id_offering_id` ON `inbound_webhooks` (`company_id`, `offering_id`);
-- Create index "inbound_webhooks_company_id_id" to table: "inbound_webhooks"
CREATE UNIQUE INDEX `inbound_webhooks_company_id_id` ON `inbound_webhooks` (`company_id`, `id`);
