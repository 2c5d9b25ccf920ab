-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "audit_days" bigint NULL;
