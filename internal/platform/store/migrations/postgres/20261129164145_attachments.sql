-- Modify "comments" table
ALTER TABLE "comments" ADD COLUMN "via" character varying NULL, ADD COLUMN "quoted" character varying NULL;
-- Create index "comments_company_id_id" to table: "comments"
CREATE UNIQUE INDEX "comments_company_id_id" ON "comments" ("company_id", "id");
-- Modify "users" table
ALTER TABLE "users" ADD COLUMN "mail_state" character varying NOT NULL DEFAULT 'OK';
-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "files_key_sealed" bytea NULL;
-- Create "attachments" table
CREATE TABLE "attachments" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "size" bigint NOT NULL, "media_type" character varying NULL, "sha256" character varying NULL, "status" character varying NOT NULL DEFAULT 'UPLOADING', "scan" character varying NOT NULL DEFAULT 'PENDING', "width" bigint NULL, "height" bigint NULL, "created_by" character varying NOT NULL, "stored_as" character varying NULL, "deleted_at" timestamptz NULL, "request_id" character varying NULL, "comment_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "attachments_comments_comment" FOREIGN KEY ("company_id", "comment_id") REFERENCES "comments" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "attachments_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "attachments_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "attachment_company_id_comment_id" to table: "attachments"
CREATE INDEX "attachment_company_id_comment_id" ON "attachments" ("company_id", "comment_id");
-- Create index "attachment_company_id_deleted_at_size" to table: "attachments"
CREATE INDEX "attachment_company_id_deleted_at_size" ON "attachments" ("company_id", "deleted_at", "size");
-- Create index "attachment_company_id_request_id_created_at_id" to table: "attachments"
CREATE INDEX "attachment_company_id_request_id_created_at_id" ON "attachments" ("company_id", "request_id", "created_at", "id");
-- Create index "attachment_company_id_sha256" to table: "attachments"
CREATE INDEX "attachment_company_id_sha256" ON "attachments" ("company_id", "sha256");
-- Create index "attachment_company_id_stored_as" to table: "attachments"
CREATE INDEX "attachment_company_id_stored_as" ON "attachments" ("company_id", "stored_as");
-- Create index "attachment_deleted_at_id" to table: "attachments"
CREATE INDEX "attachment_deleted_at_id" ON "attachments" ("deleted_at", "id");
-- Create index "attachment_status_scan_created_at_id" to table: "attachments"
CREATE INDEX "attachment_status_scan_created_at_id" ON "attachments" ("status", "scan", "created_at", "id");
-- Create "mailboxes" table
CREATE TABLE "mailboxes" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "address" character varying NOT NULL, "kind" character varying NOT NULL, "receives_at" character varying NOT NULL, "unknown_senders" character varying NOT NULL DEFAULT 'hold', "authserv_id" character varying NULL, "enabled" boolean NOT NULL DEFAULT true, "secret_sealed" bytea NULL, "created_by" character varying NOT NULL, "offering_id" character varying NOT NULL, "team_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "mailboxes_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "mailboxes_offerings_offering" FOREIGN KEY ("company_id", "offering_id") REFERENCES "offerings" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "mailboxes_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "mailbox_company_id_created_at_id" to table: "mailboxes"
CREATE INDEX "mailbox_company_id_created_at_id" ON "mailboxes" ("company_id", "created_at", "id");
-- Create index "mailbox_company_id_offering_id" to table: "mailboxes"
CREATE INDEX "mailbox_company_id_offering_id" ON "mailboxes" ("company_id", "offering_id");
-- Create index "mailbox_company_id_team_id" to table: "mailboxes"
CREATE INDEX "mailbox_company_id_team_id" ON "mailboxes" ("company_id", "team_id");
-- Create index "mailboxes_company_id_id" to table: "mailboxes"
CREATE UNIQUE INDEX "mailboxes_company_id_id" ON "mailboxes" ("company_id", "id");
-- Create index "mailboxes_receives_at_key" to table: "mailboxes"
CREATE UNIQUE INDEX "mailboxes_receives_at_key" ON "mailboxes" ("receives_at");
-- Create "inbound_mails" table
CREATE TABLE "inbound_mails" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "message_id" character varying NULL, "sender" character varying NULL, "recipient" character varying NOT NULL, "subject" character varying NULL, "outcome" character varying NOT NULL DEFAULT 'RECEIVED', "reason" character varying NULL, "request_id" character varying NULL, "comment_id" character varying NULL, "size" bigint NOT NULL, "stored_as" character varying NULL, "peer" character varying NULL, "helo" character varying NULL, "mail_from" character varying NULL, "mailbox_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "inbound_mails_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "inbound_mails_mailboxes_mailbox" FOREIGN KEY ("company_id", "mailbox_id") REFERENCES "mailboxes" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "inboundmail_company_id_created_at_id" to table: "inbound_mails"
CREATE INDEX "inboundmail_company_id_created_at_id" ON "inbound_mails" ("company_id", "created_at", "id");
-- Create index "inboundmail_company_id_mailbox_id_created_at_id" to table: "inbound_mails"
CREATE INDEX "inboundmail_company_id_mailbox_id_created_at_id" ON "inbound_mails" ("company_id", "mailbox_id", "created_at", "id");
-- Create index "inboundmail_company_id_message_id" to table: "inbound_mails"
CREATE INDEX "inboundmail_company_id_message_id" ON "inbound_mails" ("company_id", "message_id");
-- Create index "inboundmail_company_id_sender_created_at" to table: "inbound_mails"
CREATE INDEX "inboundmail_company_id_sender_created_at" ON "inbound_mails" ("company_id", "sender", "created_at");
-- Create index "inboundmail_company_id_stored_as" to table: "inbound_mails"
CREATE INDEX "inboundmail_company_id_stored_as" ON "inbound_mails" ("company_id", "stored_as");
-- Create index "inboundmail_created_at_id" to table: "inbound_mails"
CREATE INDEX "inboundmail_created_at_id" ON "inbound_mails" ("created_at", "id");
-- Create index "inboundmail_outcome_created_at" to table: "inbound_mails"
CREATE INDEX "inboundmail_outcome_created_at" ON "inbound_mails" ("outcome", "created_at");
-- Put "attachments" under row-level security
ALTER TABLE "attachments" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "attachments" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "attachments" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "inbound_mails" under row-level security
ALTER TABLE "inbound_mails" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "inbound_mails" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "inbound_mails" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "mailboxes" under row-level security
ALTER TABLE "mailboxes" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "mailboxes" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "mailboxes" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
