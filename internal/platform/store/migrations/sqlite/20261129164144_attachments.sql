-- Add column "files_key_sealed" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `files_key_sealed` blob NULL;
-- Add the column by hand: a copy of the table would drop its triggers
ALTER TABLE `users` ADD COLUMN `mail_state` text NOT NULL DEFAULT 'OK';
-- Add column "via" to table: "comments"
ALTER TABLE `comments` ADD COLUMN `via` text NULL;
-- Add column "quoted" to table: "comments"
ALTER TABLE `comments` ADD COLUMN `quoted` text NULL;
-- Create index "comments_company_id_id" to table: "comments"
CREATE UNIQUE INDEX `comments_company_id_id` ON `comments` (`company_id`, `id`);
-- Create "attachments" table
CREATE TABLE `attachments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `size` integer NOT NULL, `media_type` text NULL, `sha256` text NULL, `status` text NOT NULL DEFAULT ('UPLOADING'), `scan` text NOT NULL DEFAULT ('PENDING'), `width` integer NULL, `height` integer NULL, `created_by` text NOT NULL, `stored_as` text NULL, `deleted_at` datetime NULL, `request_id` text NULL, `comment_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `attachments_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `attachments_comments_comment` FOREIGN KEY (`company_id`, `comment_id`) REFERENCES `comments` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `attachments_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "attachment_company_id_request_id_created_at_id" to table: "attachments"
CREATE INDEX `attachment_company_id_request_id_created_at_id` ON `attachments` (`company_id`, `request_id`, `created_at`, `id`);
-- Create index "attachment_company_id_comment_id" to table: "attachments"
CREATE INDEX `attachment_company_id_comment_id` ON `attachments` (`company_id`, `comment_id`);
-- Create index "attachment_company_id_sha256" to table: "attachments"
CREATE INDEX `attachment_company_id_sha256` ON `attachments` (`company_id`, `sha256`);
-- Create index "attachment_company_id_deleted_at_size" to table: "attachments"
CREATE INDEX `attachment_company_id_deleted_at_size` ON `attachments` (`company_id`, `deleted_at`, `size`);
-- Create index "attachment_company_id_stored_as" to table: "attachments"
CREATE INDEX `attachment_company_id_stored_as` ON `attachments` (`company_id`, `stored_as`);
-- Create index "attachment_deleted_at_id" to table: "attachments"
CREATE INDEX `attachment_deleted_at_id` ON `attachments` (`deleted_at`, `id`);
-- Create index "attachment_status_scan_created_at_id" to table: "attachments"
CREATE INDEX `attachment_status_scan_created_at_id` ON `attachments` (`status`, `scan`, `created_at`, `id`);
-- Create "inbound_mails" table
CREATE TABLE `inbound_mails` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `message_id` text NULL, `sender` text NULL, `recipient` text NOT NULL, `subject` text NULL, `outcome` text NOT NULL DEFAULT ('RECEIVED'), `reason` text NULL, `request_id` text NULL, `comment_id` text NULL, `size` integer NOT NULL, `stored_as` text NULL, `peer` text NULL, `helo` text NULL, `mail_from` text NULL, `mailbox_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `inbound_mails_mailboxes_mailbox` FOREIGN KEY (`company_id`, `mailbox_id`) REFERENCES `mailboxes` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `inbound_mails_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "inboundmail_company_id_created_at_id" to table: "inbound_mails"
CREATE INDEX `inboundmail_company_id_created_at_id` ON `inbound_mails` (`company_id`, `created_at`, `id`);
-- Create index "inboundmail_company_id_mailbox_id_created_at_id" to table: "inbound_mails"
CREATE INDEX `inboundmail_company_id_mailbox_id_created_at_id` ON `inbound_mails` (`company_id`, `mailbox_id`, `created_at`, `id`);
-- Create index "inboundmail_company_id_message_id" to table: "inbound_mails"
CREATE INDEX `inboundmail_company_id_message_id` ON `inbound_mails` (`company_id`, `message_id`);
-- Create index "inboundmail_company_id_sender_created_at" to table: "inbound_mails"
CREATE INDEX `inboundmail_company_id_sender_created_at` ON `inbound_mails` (`company_id`, `sender`, `created_at`);
-- Create index "inboundmail_company_id_stored_as" to table: "inbound_mails"
CREATE INDEX `inboundmail_company_id_stored_as` ON `inbound_mails` (`company_id`, `stored_as`);
-- Create index "inboundmail_created_at_id" to table: "inbound_mails"
CREATE INDEX `inboundmail_created_at_id` ON `inbound_mails` (`created_at`, `id`);
-- Create index "inboundmail_outcome_created_at" to table: "inbound_mails"
CREATE INDEX `inboundmail_outcome_created_at` ON `inbound_mails` (`outcome`, `created_at`);
-- Create "mailboxes" table
CREATE TABLE `mailboxes` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `address` text NOT NULL, `kind` text NOT NULL, `receives_at` text NOT NULL, `unknown_senders` text NOT NULL DEFAULT ('hold'), `authserv_id` text NULL, `enabled` bool NOT NULL DEFAULT (true), `secret_sealed` blob NULL, `created_by` text NOT NULL, `offering_id` text NOT NULL, `team_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `mailboxes_offerings_offering` FOREIGN KEY (`company_id`, `offering_id`) REFERENCES `offerings` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `mailboxes_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `mailboxes_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
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
