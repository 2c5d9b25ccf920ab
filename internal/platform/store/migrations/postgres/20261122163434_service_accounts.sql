-- Modify "service_accounts" table
ALTER TABLE "service_accounts" ADD COLUMN "enabled" boolean NOT NULL DEFAULT true;
