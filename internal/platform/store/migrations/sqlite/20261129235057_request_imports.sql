-- Create "request_imports" table
CREATE TABLE `request_imports` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `status` text NOT NULL DEFAULT ('CHECKED'), `source` text NOT NULL, `created_by` text NOT NULL, `rows` integer NOT NULL, `done` integer NOT NULL DEFAULT (0), `imported` integer NOT NULL DEFAULT (0), `known` integer NOT NULL DEFAULT (0), `faulty` integer NOT NULL DEFAULT (0), `faults` json NULL, `columns` json NOT NULL, `finished_at` datetime NULL, `settings` json NOT NULL, `csv` text NULL, PRIMARY KEY (`id`), CONSTRAINT `request_imports_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "requestimport_company_id_created_at_id" to table: "request_imports"
CREATE INDEX `requestimport_company_id_created_at_id` ON `request_imports` (`company_id`, `created_at`, `id`);
-- Create index "requestimport_company_id_status" to table: "request_imports"
CREATE INDEX `requestimport_company_id_status` ON `request_imports` (`company_id`, `status`);
-- Create index "requestimport_updated_at" to table: "request_imports"
CREATE INDEX `requestimport_updated_at` ON `request_imports` (`updated_at`);
