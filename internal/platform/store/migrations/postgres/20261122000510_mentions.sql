-- Modify "comments" table
ALTER TABLE "comments" ADD COLUMN "mentioned" jsonb NULL;
-- Modify "users" table
ALTER TABLE "users" ADD COLUMN "notifications" jsonb NULL;
