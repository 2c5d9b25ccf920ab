-- Add column "number" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `number` integer NULL;
-- Create index "request_company_id_number" to table: "requests"
CREATE UNIQUE INDEX `request_company_id_number` ON `requests` (`company_id`, `number`);
-- Create "sequences" table
CREATE TABLE `sequences` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `company_id` text NOT NULL, `kind` text NOT NULL, `last` integer NOT NULL, CONSTRAINT `sequences_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "sequence_company_id_kind" to table: "sequences"
CREATE UNIQUE INDEX `sequence_company_id_kind` ON `sequences` (`company_id`, `kind`);
