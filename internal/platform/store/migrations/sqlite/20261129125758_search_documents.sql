-- Create "search_documents" table
CREATE TABLE `search_documents` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `company_id` text NOT NULL, `kind` text NOT NULL, `row_id` text NOT NULL, `request_id` text NULL, `tokens` text NOT NULL DEFAULT (''), `version` integer NOT NULL DEFAULT (0), `pending` integer NOT NULL DEFAULT (1), CONSTRAINT `search_documents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "searchdocument_company_id_row_id" to table: "search_documents"
CREATE UNIQUE INDEX `searchdocument_company_id_row_id` ON `search_documents` (`company_id`, `row_id`);
-- Create index "searchdocument_company_id_request_id" to table: "search_documents"
CREATE INDEX `searchdocument_company_id_request_id` ON `search_documents` (`company_id`, `request_id`);
-- Create index "searchdocument_pending" to table: "search_documents"
CREATE INDEX `searchdocument_pending` ON `search_documents` (`company_id`, `id`) WHERE pending > 0;
