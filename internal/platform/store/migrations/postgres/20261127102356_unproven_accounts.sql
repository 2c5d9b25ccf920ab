-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "unproven_since" timestamptz NULL;
