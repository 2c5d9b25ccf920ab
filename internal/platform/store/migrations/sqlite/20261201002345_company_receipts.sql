-- Add column "receipts" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `receipts` text NOT NULL DEFAULT ('members');
