-- Create "comments" table
CREATE TABLE `comments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `author_id` text NOT NULL, `body` text NOT NULL, `visibility` text NOT NULL DEFAULT ('public'), `request_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `comments_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `comments_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "comment_company_id_request_id_created_at_id" to table: "comments"
CREATE INDEX `comment_company_id_request_id_created_at_id` ON `comments` (`company_id`, `request_id`, `created_at`, `id`);
