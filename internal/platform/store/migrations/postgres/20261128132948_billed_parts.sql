-- Modify "billing_accounts" table
ALTER TABLE "billing_accounts" ADD COLUMN "parts" jsonb NULL;
