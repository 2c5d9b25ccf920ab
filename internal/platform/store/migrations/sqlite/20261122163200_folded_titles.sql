-- Titles order without case.
DROP INDEX `request_company_id_title_id`;
CREATE INDEX `requests_folded_title` ON `requests` (`company_id`, lower(`title`), `id`);
