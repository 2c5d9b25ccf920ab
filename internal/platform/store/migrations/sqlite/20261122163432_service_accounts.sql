-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_service_accounts" table
CREATE TABLE `new_service_accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `role` text NOT NULL DEFAULT ('member'), `enabled` bool NOT NULL DEFAULT (true), `live_account_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `service_accounts_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "service_accounts" to new temporary table "new_service_accounts"
INSERT INTO `new_service_accounts` (`id`, `created_at`, `updated_at`, `company_id`, `name`, `role`, `live_account_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `name`, `role`, `live_account_id` FROM `service_accounts`;
-- Drop "service_accounts" table after copying rows
DROP TABLE `service_accounts`;
-- Rename temporary table "new_service_accounts" to "service_accounts"
ALTER TABLE `new_service_accounts` RENAME TO `service_accounts`;
-- Create index "serviceaccount_company_id_created_at_id" to table: "service_accounts"
CREATE INDEX `serviceaccount_company_id_created_at_id` ON `service_accounts` (`company_id`, `created_at`, `id`);
-- Create index "service_accounts_company_id_id" to table: "service_accounts"
CREATE UNIQUE INDEX `service_accounts_company_id_id` ON `service_accounts` (`company_id`, `id`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
