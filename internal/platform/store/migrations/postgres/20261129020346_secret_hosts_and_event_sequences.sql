-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "bytes_per_minute" bigint NULL, ADD COLUMN "bytes_per_day" bigint NULL;
-- Modify "events" table
ALTER TABLE "events" ADD COLUMN "sequence" bigint NULL;
-- Modify "notifications" table
ALTER TABLE "notifications" ADD COLUMN "execution_id" character varying NULL;
-- Modify "secrets" table
ALTER TABLE "secrets" ADD COLUMN "allowed_hosts" jsonb NULL;
