-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_agents" table
CREATE TABLE `new_agents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `type` text NOT NULL, `source` text NOT NULL, `status` text NOT NULL DEFAULT ('DRAFT'), `version` integer NOT NULL DEFAULT (0), `autonomy` text NOT NULL, `role` text NOT NULL DEFAULT ('agent'), `scopes` json NULL, `filter` text NOT NULL DEFAULT (''), `sees` text NOT NULL DEFAULT ('requester'), `instructions` text NOT NULL DEFAULT (''), `engine` text NOT NULL DEFAULT ('history'), `tools` json NULL, `runs_per_day` integer NOT NULL DEFAULT (1000), `shadow` bool NOT NULL DEFAULT (false), `owner_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `agents_users_owner` FOREIGN KEY (`company_id`, `owner_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "agents" to new temporary table "new_agents"
INSERT INTO `new_agents` (`id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `autonomy`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `autonomy` FROM `agents`;
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
-- Create "agent_actions" table
CREATE TABLE `agent_actions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `step` integer NOT NULL, `kind` text NOT NULL, `operation` text NOT NULL, `arguments` json NULL, `changes` json NULL, `rationale` text NOT NULL, `confidence` real NOT NULL, `rows` json NOT NULL, `digest` text NOT NULL, `row_version` text NOT NULL, `shadow` bool NOT NULL DEFAULT (false), `status` text NOT NULL DEFAULT ('PENDING'), `decided_by` text NULL, `decided_at` datetime NULL, `comment` text NOT NULL DEFAULT (''), `run_id` text NOT NULL, `request_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_actions_agent_runs_run` FOREIGN KEY (`company_id`, `run_id`) REFERENCES `agent_runs` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_actions_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agent_actions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "agentaction_company_id_created_at_id" to table: "agent_actions"
CREATE INDEX `agentaction_company_id_created_at_id` ON `agent_actions` (`company_id`, `created_at`, `id`);
-- Create index "agentaction_company_id_run_id_created_at_id" to table: "agent_actions"
CREATE INDEX `agentaction_company_id_run_id_created_at_id` ON `agent_actions` (`company_id`, `run_id`, `created_at`, `id`);
-- Create index "agentaction_company_id_request_id_status" to table: "agent_actions"
CREATE INDEX `agentaction_company_id_request_id_status` ON `agent_actions` (`company_id`, `request_id`, `status`);
-- Create index "agentaction_company_id_status_created_at_id" to table: "agent_actions"
CREATE INDEX `agentaction_company_id_status_created_at_id` ON `agent_actions` (`company_id`, `status`, `created_at`, `id`);
-- Create "agent_runs" table
CREATE TABLE `agent_runs` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `agent_version` integer NOT NULL, `number` integer NOT NULL, `trigger` text NOT NULL, `status` text NOT NULL DEFAULT ('QUEUED'), `shadow` bool NOT NULL DEFAULT (false), `steps` json NULL, `plans` integer NOT NULL DEFAULT (0), `reason` text NOT NULL DEFAULT (''), `ended_at` datetime NULL, `agent_id` text NOT NULL, `request_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_runs_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_runs_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agent_runs_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
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
-- Create index "agentrun_updated_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_updated_at_id` ON `agent_runs` (`updated_at`, `id`);
-- Create index "agent_runs_company_id_id" to table: "agent_runs"
CREATE UNIQUE INDEX `agent_runs_company_id_id` ON `agent_runs` (`company_id`, `id`);
-- Create "agent_versions" table
CREATE TABLE `agent_versions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `version` integer NOT NULL, `settings` json NOT NULL, `published_at` datetime NOT NULL, `published_by` text NOT NULL, `agent_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_versions_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_versions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "agentversion_company_id_agent_id_version" to table: "agent_versions"
CREATE UNIQUE INDEX `agentversion_company_id_agent_id_version` ON `agent_versions` (`company_id`, `agent_id`, `version`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
