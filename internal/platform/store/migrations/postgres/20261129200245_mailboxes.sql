-- Modify "inbound_mails" table
ALTER TABLE "inbound_mails" ADD COLUMN "excerpt" character varying NULL;
-- Modify "mailboxes" table
ALTER TABLE "mailboxes" ALTER COLUMN "receives_at" DROP NOT NULL, ADD COLUMN "server" character varying NULL, ADD COLUMN "username" character varying NULL, ADD COLUMN "fetched_validity" bigint NOT NULL DEFAULT 0, ADD COLUMN "fetched_uid" bigint NOT NULL DEFAULT 0, ADD COLUMN "fetched_at" timestamptz NULL, ADD COLUMN "fault" character varying NULL;
