-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "receipts" character varying NOT NULL DEFAULT 'members';
