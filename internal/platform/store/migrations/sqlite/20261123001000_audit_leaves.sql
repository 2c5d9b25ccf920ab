-- Add column "actor_seal" to table: "audit_entries"
ALTER TABLE `audit_entries` ADD COLUMN `actor_seal` blob NULL;
-- Add column "changes_seal" to table: "audit_entries"
ALTER TABLE `audit_entries` ADD COLUMN `changes_seal` blob NULL;
-- Add column "leaf_hash" to table: "audit_entries"
ALTER TABLE `audit_entries` ADD COLUMN `leaf_hash` blob NULL;
-- Create "audit_leaves" table
CREATE TABLE `audit_leaves` (`id` text NOT NULL, `company_id` text NOT NULL, `index` integer NOT NULL, `hashes` blob NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `audit_leaves_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "auditleaf_company_id_index" to table: "audit_leaves"
CREATE UNIQUE INDEX `auditleaf_company_id_index` ON `audit_leaves` (`company_id`, `index`);
