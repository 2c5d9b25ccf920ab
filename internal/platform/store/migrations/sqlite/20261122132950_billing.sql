-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_credit_entries" table
CREATE TABLE `new_credit_entries` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `type` text NOT NULL, `amount` integer NOT NULL, `reason` text NOT NULL, `description` text NOT NULL, `invoice_id` text NULL, `number` integer NOT NULL DEFAULT (0), `balance` integer NOT NULL DEFAULT (0), `drawn_from` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `credit_entries_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "credit_entries" to new temporary table "new_credit_entries"
INSERT INTO `new_credit_entries` (`id`, `created_at`, `updated_at`, `company_id`, `type`, `amount`, `reason`, `description`, `invoice_id`, `number`, `balance`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `type`, `amount`, `reason`, `description`, `invoice_id`, row_number() OVER entries, sum(`amount`) OVER entries FROM `credit_entries` WINDOW entries AS (PARTITION BY `company_id` ORDER BY `created_at`, `id`);
-- Drop "credit_entries" table after copying rows
DROP TABLE `credit_entries`;
-- Rename temporary table "new_credit_entries" to "credit_entries"
ALTER TABLE `new_credit_entries` RENAME TO `credit_entries`;
-- Create index "creditentry_company_id_number" to table: "credit_entries"
CREATE UNIQUE INDEX `creditentry_company_id_number` ON `credit_entries` (`company_id`, `number`);
-- Create "billing_accounts" table
CREATE TABLE `billing_accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `anchor_at` datetime NULL, `period_start_at` datetime NULL, `period_end_at` datetime NULL, `forfeit_at` datetime NULL, `due_at` datetime NULL, `balance` integer NOT NULL DEFAULT (0), `entries` integer NOT NULL DEFAULT (0), `drawn_entry` integer NOT NULL DEFAULT (0), `drawn_amount` integer NOT NULL DEFAULT (0), `invoices` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`), CONSTRAINT `billing_accounts_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "billingaccount_company_id" to table: "billing_accounts"
CREATE INDEX `billingaccount_company_id` ON `billing_accounts` (`company_id`);
-- Create index "billingaccount_due_at" to table: "billing_accounts"
CREATE INDEX `billingaccount_due_at` ON `billing_accounts` (`due_at`);
-- Create "invoices" table
CREATE TABLE `invoices` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `number` integer NOT NULL, `status` text NOT NULL, `period_start` datetime NOT NULL, `period_end` datetime NOT NULL, `lines` json NOT NULL, `subtotal` integer NOT NULL, `credits_applied` integer NOT NULL, `amount_due` integer NOT NULL, `currency` text NOT NULL, `paid_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `invoices_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "invoice_company_id_created_at_id" to table: "invoices"
CREATE INDEX `invoice_company_id_created_at_id` ON `invoices` (`company_id`, `created_at`, `id`);
-- Create index "invoice_company_id_number" to table: "invoices"
CREATE UNIQUE INDEX `invoice_company_id_number` ON `invoices` (`company_id`, `number`);
-- Create "journal_lines" table
CREATE TABLE `journal_lines` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `source` text NOT NULL, `account` text NOT NULL, `amount` integer NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `journal_lines_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "journalline_company_id_source" to table: "journal_lines"
CREATE INDEX `journalline_company_id_source` ON `journal_lines` (`company_id`, `source`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
