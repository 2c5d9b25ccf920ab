-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_api_keys" table
CREATE TABLE `new_api_keys` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `hash` blob NOT NULL, `prefix` text NOT NULL, `last4` text NOT NULL, `scopes` json NOT NULL, `test` bool NOT NULL, `allowed_ips` json NULL, `created_by` text NOT NULL, `expires_at` datetime NULL, `revoked_at` datetime NULL, `last_used_at` datetime NULL, `user_id` text NULL, `service_account_id` text NULL, `agent_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `api_keys_users_user` FOREIGN KEY (`company_id`, `user_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `api_keys_service_accounts_service_account` FOREIGN KEY (`company_id`, `service_account_id`) REFERENCES `service_accounts` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `api_keys_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `api_keys_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "api_keys" to new temporary table "new_api_keys"
INSERT INTO `new_api_keys` (`id`, `created_at`, `updated_at`, `company_id`, `name`, `hash`, `prefix`, `last4`, `scopes`, `test`, `allowed_ips`, `created_by`, `expires_at`, `revoked_at`, `last_used_at`, `user_id`, `service_account_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `name`, `hash`, `prefix`, `last4`, `scopes`, `test`, `allowed_ips`, `created_by`, `expires_at`, `revoked_at`, `last_used_at`, `user_id`, `service_account_id` FROM `api_keys`;
-- Drop "api_keys" table after copying rows
DROP TABLE `api_keys`;
-- Rename temporary table "new_api_keys" to "api_keys"
ALTER TABLE `new_api_keys` RENAME TO `api_keys`;
-- Create index "api_keys_hash_key" to table: "api_keys"
CREATE UNIQUE INDEX `api_keys_hash_key` ON `api_keys` (`hash`);
-- Create index "apikey_company_id_created_at_id" to table: "api_keys"
CREATE INDEX `apikey_company_id_created_at_id` ON `api_keys` (`company_id`, `created_at`, `id`);
-- Create index "tasks_company_id_id" to table: "tasks"
CREATE UNIQUE INDEX `tasks_company_id_id` ON `tasks` (`company_id`, `id`);
-- Create "new_agents" table
CREATE TABLE `new_agents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `type` text NOT NULL, `source` text NOT NULL, `status` text NOT NULL DEFAULT ('DRAFT'), `version` integer NOT NULL DEFAULT (0), `autonomy` text NOT NULL, `role` text NOT NULL DEFAULT ('agent'), `scopes` json NULL, `filter` text NOT NULL DEFAULT (''), `sees` text NOT NULL DEFAULT ('requester'), `instructions` text NOT NULL DEFAULT (''), `engine` text NOT NULL DEFAULT ('history'), `tools` json NULL, `runs_per_day` integer NOT NULL DEFAULT (1000), `shadow` bool NOT NULL DEFAULT (false), `endpoint_url` text NOT NULL DEFAULT (''), `consult_minutes` integer NOT NULL DEFAULT (30), `secret_sealed` blob NULL, `previous_sealed` blob NULL, `previous_until` datetime NULL, `owner_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `agents_users_owner` FOREIGN KEY (`company_id`, `owner_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "agents" to new temporary table "new_agents"
INSERT INTO `new_agents` (`id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `status`, `version`, `autonomy`, `role`, `scopes`, `filter`, `sees`, `instructions`, `engine`, `tools`, `runs_per_day`, `shadow`, `owner_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `status`, `version`, `autonomy`, `role`, `scopes`, `filter`, `sees`, `instructions`, `engine`, `tools`, `runs_per_day`, `shadow`, `owner_id` FROM `agents`;
-- Drop "agents" table after copying rows
DROP TABLE `agents`;
-- Rename temporary table "new_agents" to "agents"
ALTER TABLE `new_agents` RENAME TO `agents`;
-- Create index "agent_company_id_created_at_id" to table: "agents"
CREATE INDEX `agent_company_id_created_at_id` ON `agents` (`company_id`, `created_at`, `id`);
-- Create index "agent_company_id_owner_id" to table: "agents"
CREATE INDEX `agent_company_id_owner_id` ON `agents` (`company_id`, `owner_id`);
-- Create index "agents_company_id_id" to table: "agents"
CREATE UNIQUE INDEX `agents_company_id_id` ON `agents` (`company_id`, `id`);
-- Create "new_agent_runs" table
CREATE TABLE `new_agent_runs` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `agent_version` integer NOT NULL, `number` integer NOT NULL, `trigger` text NOT NULL, `status` text NOT NULL DEFAULT ('QUEUED'), `shadow` bool NOT NULL DEFAULT (false), `steps` json NULL, `plans` integer NOT NULL DEFAULT (0), `lease_until` datetime NULL, `outcome` text NOT NULL DEFAULT (''), `reason` text NOT NULL DEFAULT (''), `ended_at` datetime NULL, `agent_id` text NOT NULL, `request_id` text NOT NULL, `task_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_runs_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_runs_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agent_runs_tasks_task` FOREIGN KEY (`company_id`, `task_id`) REFERENCES `tasks` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_runs_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "agent_runs" to new temporary table "new_agent_runs"
INSERT INTO `new_agent_runs` (`id`, `created_at`, `updated_at`, `company_id`, `agent_version`, `number`, `trigger`, `status`, `shadow`, `steps`, `plans`, `reason`, `ended_at`, `agent_id`, `request_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `agent_version`, `number`, `trigger`, `status`, `shadow`, `steps`, `plans`, `reason`, `ended_at`, `agent_id`, `request_id` FROM `agent_runs`;
-- Drop "agent_runs" table after copying rows
DROP TABLE `agent_runs`;
-- Rename temporary table "new_agent_runs" to "agent_runs"
ALTER TABLE `new_agent_runs` RENAME TO `agent_runs`;
-- Create index "agentrun_company_id_created_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_created_at_id` ON `agent_runs` (`company_id`, `created_at`, `id`);
-- Create index "agentrun_company_id_request_id_number" to table: "agent_runs"
CREATE UNIQUE INDEX `agentrun_company_id_request_id_number` ON `agent_runs` (`company_id`, `request_id`, `number`);
-- Create index "agentrun_company_id_request_id_created_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_request_id_created_at_id` ON `agent_runs` (`company_id`, `request_id`, `created_at`, `id`);
-- Create index "agentrun_company_id_agent_id_created_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_agent_id_created_at_id` ON `agent_runs` (`company_id`, `agent_id`, `created_at`, `id`);
-- Create index "agentrun_company_id_status_created_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_status_created_at_id` ON `agent_runs` (`company_id`, `status`, `created_at`, `id`);
-- Create index "agentrun_company_id_task_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_task_id` ON `agent_runs` (`company_id`, `task_id`);
-- Create index "agentrun_updated_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_updated_at_id` ON `agent_runs` (`updated_at`, `id`);
-- Create index "agent_runs_company_id_id" to table: "agent_runs"
CREATE UNIQUE INDEX `agent_runs_company_id_id` ON `agent_runs` (`company_id`, `id`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
