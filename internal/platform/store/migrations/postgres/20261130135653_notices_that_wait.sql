-- Modify "notifications" table
ALTER TABLE "notifications" ADD COLUMN "mailed_at" timestamptz NULL, ADD COLUMN "held" jsonb NULL;
