-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_accounts" table
CREATE TABLE `new_accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `email` text NULL, `password_hash` text NULL, `password_changed_at` datetime NULL, PRIMARY KEY (`id`));
-- Copy rows from old table "accounts" to new temporary table "new_accounts"
INSERT INTO `new_accounts` (`id`, `created_at`, `updated_at`, `email`, `password_hash`, `password_changed_at`) SELECT `id`, `created_at`, `updated_at`, `email`, `password_hash`, `password_changed_at` FROM `accounts`;
-- Drop "accounts" table after copying rows
DROP TABLE `accounts`;
-- Rename temporary table "new_accounts" to "accounts"
ALTER TABLE `new_accounts` RENAME TO `accounts`;
-- Create index "accounts_email_key" to table: "accounts"
CREATE UNIQUE INDEX `accounts_email_key` ON `accounts` (`email`);
-- Add column "accepted_at" to table: "users"
ALTER TABLE `users` ADD COLUMN `accepted_at` datetime NULL;
-- Who is active has come; of those who were deactivated, whoever was seen.
UPDATE `users` SET `accepted_at` = `created_at` WHERE `status` = 'active' OR `status` = 'deactivated' AND `last_seen_at` IS NOT NULL;
-- Whether somebody has a second factor is told to companies in which the person is active.
UPDATE `users` SET `mfa_enabled` = false WHERE `status` <> 'active';
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
