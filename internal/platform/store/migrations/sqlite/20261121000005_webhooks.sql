-- Create index "events_company_id_id" to table: "events"
CREATE UNIQUE INDEX `events_company_id_id` ON `events` (`company_id`, `id`);
-- Create "webhook_deliveries" table
CREATE TABLE `webhook_deliveries` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `event` text NOT NULL, `outcome` text NOT NULL DEFAULT ('PENDING'), `retry_count` integer NOT NULL DEFAULT (0), `next_attempt_at` datetime NULL, `attempts` json NULL, `subscription_id` text NOT NULL, `event_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `webhook_deliveries_webhook_subscriptions_subscription` FOREIGN KEY (`company_id`, `subscription_id`) REFERENCES `webhook_subscriptions` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `webhook_deliveries_events_source` FOREIGN KEY (`company_id`, `event_id`) REFERENCES `events` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `webhook_deliveries_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "webhookdelivery_company_id_created_at_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_company_id_created_at_id` ON `webhook_deliveries` (`company_id`, `created_at`, `id`);
-- Create index "webhookdelivery_company_id_subscription_id_created_at_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_company_id_subscription_id_created_at_id` ON `webhook_deliveries` (`company_id`, `subscription_id`, `created_at`, `id`);
-- Create index "webhookdelivery_company_id_outcome_created_at_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_company_id_outcome_created_at_id` ON `webhook_deliveries` (`company_id`, `outcome`, `created_at`, `id`);
-- Create index "webhookdelivery_company_id_event_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_company_id_event_id` ON `webhook_deliveries` (`company_id`, `event_id`);
-- Create index "webhookdelivery_created_at" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_created_at` ON `webhook_deliveries` (`created_at`);
-- Create "webhook_subscriptions" table
CREATE TABLE `webhook_subscriptions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `url` text NOT NULL, `events` json NOT NULL, `description` text NULL, `secret_sealed` blob NOT NULL, `previous_sealed` blob NULL, `previous_until` datetime NULL, `enabled` bool NOT NULL DEFAULT (true), `disabled_reason` text NULL, `failing_since` datetime NULL, `created_by` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `webhook_subscriptions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "webhooksubscription_company_id_created_at_id" to table: "webhook_subscriptions"
CREATE INDEX `webhooksubscription_company_id_created_at_id` ON `webhook_subscriptions` (`company_id`, `created_at`, `id`);
-- Create index "webhook_subscriptions_company_id_id" to table: "webhook_subscriptions"
CREATE UNIQUE INDEX `webhook_subscriptions_company_id_id` ON `webhook_subscriptions` (`company_id`, `id`);
