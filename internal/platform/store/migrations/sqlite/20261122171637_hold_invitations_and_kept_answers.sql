-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Add column "invitations_per_day" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `invitations_per_day` integer NULL;
-- Add column "resource" to table: "idempotency_keys"
ALTER TABLE `idempotency_keys` ADD COLUMN `resource` text NULL;
-- Add column "row_id" to table: "idempotency_keys"
ALTER TABLE `idempotency_keys` ADD COLUMN `row_id` text NULL;
-- Create "new_mailed_links" table
CREATE TABLE `new_mailed_links` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `kind` text NOT NULL, `token_hash` blob NOT NULL, `account_id` text NULL, `user_id` text NULL, `invited_by` text NULL, `data` json NULL, `expires_at` datetime NOT NULL, `used_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `mailed_links_account_owner` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "mailed_links" to new temporary table "new_mailed_links"
INSERT INTO `new_mailed_links` (`id`, `created_at`, `updated_at`, `kind`, `token_hash`, `account_id`, `user_id`, `data`, `expires_at`, `used_at`) SELECT `id`, `created_at`, `updated_at`, `kind`, `token_hash`, `account_id`, `user_id`, `data`, `expires_at`, `used_at` FROM `mailed_links`;
-- Drop "mailed_links" table after copying rows
DROP TABLE `mailed_links`;
-- Rename temporary table "new_mailed_links" to "mailed_links"
ALTER TABLE `new_mailed_links` RENAME TO `mailed_links`;
-- Create index "mailed_links_token_hash_key" to table: "mailed_links"
CREATE UNIQUE INDEX `mailed_links_token_hash_key` ON `mailed_links` (`token_hash`);
-- Create index "mailedlink_account_id_kind" to table: "mailed_links"
CREATE INDEX `mailedlink_account_id_kind` ON `mailed_links` (`account_id`, `kind`);
-- Create index "mailedlink_user_id" to table: "mailed_links"
CREATE INDEX `mailedlink_user_id` ON `mailed_links` (`user_id`);
-- Create index "mailedlink_invited_by_created_at" to table: "mailed_links"
CREATE INDEX `mailedlink_invited_by_created_at` ON `mailed_links` (`invited_by`, `created_at`);
-- Create index "mailedlink_expires_at" to table: "mailed_links"
CREATE INDEX `mailedlink_expires_at` ON `mailed_links` (`expires_at`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
