-- Add column "audit_days" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `audit_days` integer NULL;
