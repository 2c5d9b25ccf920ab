-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "decline_reason" character varying NULL;
