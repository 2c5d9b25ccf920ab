-- Create "access_decisions" table
CREATE TABLE `access_decisions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `principal_type` text NOT NULL, `principal_id` text NOT NULL, `principal_name` text NOT NULL, `key_id` text NULL, `method` text NOT NULL, `verb` text NOT NULL, `action` text NOT NULL, `resource_type` text NOT NULL, `resource_id` text NULL, `allowed` bool NOT NULL, `decided_kind` text NOT NULL, `decided_id` text NOT NULL, `policies` text NOT NULL, `bundle` text NOT NULL, `request_id` text NOT NULL, `input` json NULL, PRIMARY KEY (`id`), CONSTRAINT `access_decisions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "accessdecision_company_id_created_at_id" to table: "access_decisions"
CREATE INDEX `accessdecision_company_id_created_at_id` ON `access_decisions` (`company_id`, `created_at`, `id`);
-- Create index "accessdecision_company_id_allowed_created_at_id" to table: "access_decisions"
CREATE INDEX `accessdecision_company_id_allowed_created_at_id` ON `access_decisions` (`company_id`, `allowed`, `created_at`, `id`);
-- Create index "accessdecision_created_at" to table: "access_decisions"
CREATE INDEX `accessdecision_created_at` ON `access_decisions` (`created_at`);
-- Create "access_policies" table
CREATE TABLE `access_policies` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `description` text NOT NULL DEFAULT (''), `enabled` bool NOT NULL DEFAULT (true), `effect` text NOT NULL, `action` text NOT NULL, `resource` text NOT NULL, `condition` json NOT NULL, `version` integer NOT NULL DEFAULT (1), `created_by` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `access_policies_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "accesspolicy_company_id_created_at_id" to table: "access_policies"
CREATE INDEX `accesspolicy_company_id_created_at_id` ON `access_policies` (`company_id`, `created_at`, `id`);
-- Create "access_policy_versions" table
CREATE TABLE `access_policy_versions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `policy_id` text NOT NULL, `version` integer NOT NULL, `change` text NOT NULL, `actor_type` text NOT NULL, `actor_id` text NOT NULL, `actor_name` text NOT NULL, `before` json NULL, PRIMARY KEY (`id`), CONSTRAINT `access_policy_versions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "accesspolicyversion_company_id_policy_id_version" to table: "access_policy_versions"
CREATE UNIQUE INDEX `accesspolicyversion_company_id_policy_id_version` ON `access_policy_versions` (`company_id`, `policy_id`, `version`);
