-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create index "creditentry_company_id_type_number" to table: "credit_entries"
CREATE INDEX `creditentry_company_id_type_number` ON `credit_entries` (`company_id`, `type`, `number`);
-- Create "new_billing_accounts" table
CREATE TABLE `new_billing_accounts` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `anchor_at` datetime NULL, `period_start_at` datetime NULL, `period_end_at` datetime NULL, `forfeit_at` datetime NULL, `due_at` datetime NULL, `balance` integer NOT NULL DEFAULT (0), `entries` integer NOT NULL DEFAULT (0), `drawn_entry` integer NOT NULL DEFAULT (0), `drawn_amount` integer NOT NULL DEFAULT (0), `invoices` integer NOT NULL DEFAULT (0), `credit_notes` integer NOT NULL DEFAULT (0), `customer` text NOT NULL DEFAULT (''), `payment_method` text NOT NULL DEFAULT (''), PRIMARY KEY (`id`), CONSTRAINT `billing_accounts_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "billing_accounts" to new temporary table "new_billing_accounts"
INSERT INTO `new_billing_accounts` (`id`, `created_at`, `updated_at`, `company_id`, `anchor_at`, `period_start_at`, `period_end_at`, `forfeit_at`, `due_at`, `balance`, `entries`, `drawn_entry`, `drawn_amount`, `invoices`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `anchor_at`, `period_start_at`, `period_end_at`, `forfeit_at`, `due_at`, `balance`, `entries`, `drawn_entry`, `drawn_amount`, `invoices` FROM `billing_accounts`;
-- Drop "billing_accounts" table after copying rows
DROP TABLE `billing_accounts`;
-- Rename temporary table "new_billing_accounts" to "billing_accounts"
ALTER TABLE `new_billing_accounts` RENAME TO `billing_accounts`;
-- Create index "billingaccount_company_id" to table: "billing_accounts"
CREATE INDEX `billingaccount_company_id` ON `billing_accounts` (`company_id`);
-- Create index "billingaccount_due_at" to table: "billing_accounts"
CREATE INDEX `billingaccount_due_at` ON `billing_accounts` (`due_at`);
-- Create "new_invoices" table
CREATE TABLE `new_invoices` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `number` integer NOT NULL, `status` text NOT NULL, `bill_to` text NOT NULL DEFAULT (''), `period_start` datetime NOT NULL, `period_end` datetime NOT NULL, `lines` json NOT NULL, `subtotal` integer NOT NULL, `credits_applied` integer NOT NULL, `amount_due` integer NOT NULL, `currency` text NOT NULL, `credited` integer NOT NULL DEFAULT (0), `paid_at` datetime NULL, `next_charge_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `invoices_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "invoices" to new temporary table "new_invoices"
INSERT INTO `new_invoices` (`id`, `created_at`, `updated_at`, `company_id`, `number`, `status`, `period_start`, `period_end`, `lines`, `subtotal`, `credits_applied`, `amount_due`, `currency`, `paid_at`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `number`, `status`, `period_start`, `period_end`, `lines`, `subtotal`, `credits_applied`, `amount_due`, `currency`, `paid_at` FROM `invoices`;
-- Drop "invoices" table after copying rows
DROP TABLE `invoices`;
-- Rename temporary table "new_invoices" to "invoices"
ALTER TABLE `new_invoices` RENAME TO `invoices`;
-- Create index "invoice_company_id_created_at_id" to table: "invoices"
CREATE INDEX `invoice_company_id_created_at_id` ON `invoices` (`company_id`, `created_at`, `id`);
-- Create index "invoice_company_id_number" to table: "invoices"
CREATE UNIQUE INDEX `invoice_company_id_number` ON `invoices` (`company_id`, `number`) WHERE number > 0;
-- Create index "invoice_next_charge_at" to table: "invoices"
CREATE INDEX `invoice_next_charge_at` ON `invoices` (`next_charge_at`);
-- Create "credit_notes" table
CREATE TABLE `credit_notes` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `number` integer NOT NULL, `invoice_id` text NOT NULL, `bill_to` text NOT NULL, `description` text NOT NULL, `amount` integer NOT NULL, `credited` integer NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `credit_notes_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "creditnote_company_id_number" to table: "credit_notes"
CREATE UNIQUE INDEX `creditnote_company_id_number` ON `credit_notes` (`company_id`, `number`);
-- Create index "creditnote_company_id_invoice_id" to table: "credit_notes"
CREATE INDEX `creditnote_company_id_invoice_id` ON `credit_notes` (`company_id`, `invoice_id`);
-- Create "payments" table
CREATE TABLE `payments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `invoice_id` text NOT NULL, `attempt` integer NOT NULL, `amount` integer NOT NULL, `customer` text NOT NULL, `payment_method` text NOT NULL, `status` text NOT NULL, `reference` text NOT NULL DEFAULT (''), `failure` text NOT NULL DEFAULT (''), `settled_at` datetime NULL, PRIMARY KEY (`id`), CONSTRAINT `payments_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "payment_company_id_invoice_id_attempt" to table: "payments"
CREATE UNIQUE INDEX `payment_company_id_invoice_id_attempt` ON `payments` (`company_id`, `invoice_id`, `attempt`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
