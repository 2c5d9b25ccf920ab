-- Modify "accounts" table
ALTER TABLE "accounts" ALTER COLUMN "email" DROP NOT NULL;
-- Modify "users" table
ALTER TABLE "users" ADD COLUMN "accepted_at" timestamptz NULL;
-- Who is active has come; of those who were deactivated, whoever was seen.
UPDATE "users" SET "accepted_at" = "created_at" WHERE "status" = 'active' OR "status" = 'deactivated' AND "last_seen_at" IS NOT NULL;
-- Whether somebody has a second factor is told to companies in which the person is active.
UPDATE "users" SET "mfa_enabled" = false WHERE "status" <> 'active';
