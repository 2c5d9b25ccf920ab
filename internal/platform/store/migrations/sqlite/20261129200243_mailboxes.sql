-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Add column "excerpt" to table: "inbound_mails"
ALTER TABLE `inbound_mails` ADD COLUMN `excerpt` text NULL;
-- Create "new_mailboxes" table
CREATE TABLE `new_mailboxes` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `address` text NOT NULL, `kind` text NOT NULL, `receives_at` text NULL, `unknown_senders` text NOT NULL DEFAULT ('hold'), `authserv_id` text NULL, `enabled` bool NOT NULL DEFAULT (true), `server` text NULL, `username` text NULL, `secret_sealed` blob NULL, `fetched_validity` integer NOT NULL DEFAULT (0), `fetched_uid` integer NOT NULL DEFAULT (0), `fetched_at` datetime NULL, `fault` text NULL, `created_by` text NOT NULL, `offering_id` text NOT NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `mailboxes_offerings_offering` FOREIGN KEY (`company_id`, `offering_id`) REFERENCES `offerings` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `mailboxes_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `mailboxes_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "mailboxes" to new temporary table "new_mailboxes"
INSERT INTO `new_mailboxes` (`id`, `created_at`, `updated_at`, `company_id`, `address`, `kind`, `receives_at`, `unknown_senders`, `authserv_id`, `enabled`, `secret_sealed`, `created_by`, `offering_id`, `team_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `address`, `kind`, `receives_at`, `unknown_senders`, `authserv_id`, `enabled`, `secret_sealed`, `created_by`, `offering_id`, `team_id` FROM `mailboxes`;
-- Drop "mailboxes" table after copying rows
DROP TABLE `mailboxes`;
-- Rename temporary table "new_mailboxes" to "mailboxes"
ALTER TABLE `new_mailboxes` RENAME TO `mailboxes`;
-- Create index "mailboxes_receives_at_key" to table: "mailboxes"
CREATE UNIQUE INDEX `mailboxes_receives_at_key` ON `mailboxes` (`receives_at`);
-- Create index "mailbox_company_id_created_at_id" to table: "mailboxes"
CREATE INDEX `mailbox_company_id_created_at_id` ON `mailboxes` (`company_id`, `created_at`, `id`);
-- Create index "mailbox_company_id_offering_id" to table: "mailboxes"
CREATE INDEX `mailbox_company_id_offering_id` ON `mailboxes` (`company_id`, `offering_id`);
-- Create index "mailbox_company_id_team_id" to table: "mailboxes"
CREATE INDEX `mailbox_company_id_team_id` ON `mailboxes` (`company_id`, `team_id`);
-- Create index "mailboxes_company_id_id" to table: "mailboxes"
CREATE UNIQUE INDEX `mailboxes_company_id_id` ON `mailboxes` (`company_id`, `id`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
