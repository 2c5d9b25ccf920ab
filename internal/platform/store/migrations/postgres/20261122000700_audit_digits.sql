-- Modify "audit_entries" table
ALTER TABLE "audit_entries" ALTER COLUMN "changes" TYPE json;
