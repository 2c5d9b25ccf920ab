-- Create index "requests_open" to table: "requests"
CREATE INDEX `requests_open` ON `requests` (`company_id`, `assignee_id`, `created_at`, `id`, `team_id`, `status`) WHERE status IN ('PENDING', 'IN_PROGRESS');
-- Create "request_tags" table
CREATE TABLE `request_tags` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `company_id` text NOT NULL, `request_id` text NOT NULL, `key` text NOT NULL, `value` text NOT NULL, CONSTRAINT `request_tags_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "requesttag_company_id_key_value_request_id" to table: "request_tags"
CREATE UNIQUE INDEX `requesttag_company_id_key_value_request_id` ON `request_tags` (`company_id`, `key`, `value`, `request_id`);
-- Create index "requesttag_company_id_request_id" to table: "request_tags"
CREATE INDEX `requesttag_company_id_request_id` ON `request_tags` (`company_id`, `request_id`);
-- Nothing orders by the lower case of a title any more.
DROP INDEX `requests_folded_title`;
