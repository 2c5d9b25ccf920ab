-- Modify "offerings" table
ALTER TABLE "offerings" ADD COLUMN "reopen_days" bigint NOT NULL DEFAULT 7, ADD COLUMN "reopen_workflow_id" character varying NULL;
-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "reopen_count" bigint NOT NULL DEFAULT 0;
