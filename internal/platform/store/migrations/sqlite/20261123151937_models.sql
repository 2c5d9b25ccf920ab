-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Add column "agent_agreement" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `agent_agreement` real NULL;
-- Create "new_agents" table
CREATE TABLE `new_agents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `type` text NOT NULL, `source` text NOT NULL, `status` text NOT NULL DEFAULT ('DRAFT'), `version` integer NOT NULL DEFAULT (0), `autonomy` text NOT NULL, `role` text NOT NULL DEFAULT ('agent'), `scopes` json NULL, `filter` text NOT NULL DEFAULT (''), `sees` text NOT NULL DEFAULT ('requester'), `instructions` text NOT NULL DEFAULT (''), `engine` text NOT NULL DEFAULT ('history'), `model` text NOT NULL DEFAULT (''), `limits` json NULL, `tools` json NULL, `runs_per_day` integer NOT NULL DEFAULT (1000), `shadow` bool NOT NULL DEFAULT (false), `endpoint_url` text NOT NULL DEFAULT (''), `consult_minutes` integer NOT NULL DEFAULT (30), `secret_sealed` blob NULL, `previous_sealed` blob NULL, `previous_until` datetime NULL, `owner_id` text NULL, `model_connection_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `agents_users_owner` FOREIGN KEY (`company_id`, `owner_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agents_model_connections_model_connection` FOREIGN KEY (`company_id`, `model_connection_id`) REFERENCES `model_connections` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "agents" to new temporary table "new_agents"
INSERT INTO `new_agents` (`id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `status`, `version`, `autonomy`, `role`, `scopes`, `filter`, `sees`, `instructions`, `engine`, `tools`, `runs_per_day`, `shadow`, `endpoint_url`, `consult_minutes`, `secret_sealed`, `previous_sealed`, `previous_until`, `owner_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `name`, `type`, `source`, `status`, `version`, `autonomy`, `role`, `scopes`, `filter`, `sees`, `instructions`, `engine`, `tools`, `runs_per_day`, `shadow`, `endpoint_url`, `consult_minutes`, `secret_sealed`, `previous_sealed`, `previous_until`, `owner_id` FROM `agents`;
-- Drop "agents" table after copying rows
DROP TABLE `agents`;
-- Rename temporary table "new_agents" to "agents"
ALTER TABLE `new_agents` RENAME TO `agents`;
-- Create index "agent_company_id_created_at_id" to table: "agents"
CREATE INDEX `agent_company_id_created_at_id` ON `agents` (`company_id`, `created_at`, `id`);
-- Create index "agent_company_id_owner_id" to table: "agents"
CREATE INDEX `agent_company_id_owner_id` ON `agents` (`company_id`, `owner_id`);
-- Create index "agent_company_id_model_connection_id" to table: "agents"
CREATE INDEX `agent_company_id_model_connection_id` ON `agents` (`company_id`, `model_connection_id`);
-- Create index "agents_company_id_id" to table: "agents"
CREATE UNIQUE INDEX `agents_company_id_id` ON `agents` (`company_id`, `id`);
-- Create "new_agent_runs" table
CREATE TABLE `new_agent_runs` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `agent_version` integer NOT NULL, `number` integer NOT NULL, `trigger` text NOT NULL, `status` text NOT NULL DEFAULT ('QUEUED'), `shadow` bool NOT NULL DEFAULT (false), `steps` json NULL, `plans` integer NOT NULL DEFAULT (0), `model_calls` integer NOT NULL DEFAULT (0), `input_tokens` integer NOT NULL DEFAULT (0), `output_tokens` integer NOT NULL DEFAULT (0), `lease_until` datetime NULL, `outcome` text NOT NULL DEFAULT (''), `reason` text NOT NULL DEFAULT (''), `ended_at` datetime NULL, `agent_id` text NOT NULL, `request_id` text NOT NULL, `task_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_runs_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_runs_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `agent_runs_tasks_task` FOREIGN KEY (`company_id`, `task_id`) REFERENCES `tasks` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_runs_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Copy rows from old table "agent_runs" to new temporary table "new_agent_runs"
INSERT INTO `new_agent_runs` (`id`, `created_at`, `updated_at`, `company_id`, `agent_version`, `number`, `trigger`, `status`, `shadow`, `steps`, `plans`, `lease_until`, `outcome`, `reason`, `ended_at`, `agent_id`, `request_id`, `task_id`) SELECT `id`, `created_at`, `updated_at`, `company_id`, `agent_version`, `number`, `trigger`, `status`, `shadow`, `steps`, `plans`, `lease_until`, `outcome`, `reason`, `ended_at`, `agent_id`, `request_id`, `task_id` FROM `agent_runs`;
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
-- Create "agent_evaluations" table
CREATE TABLE `agent_evaluations` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `settings` json NOT NULL, `digest` text NOT NULL, `cases` json NULL, `status` text NOT NULL DEFAULT ('RUNNING'), `total` integer NOT NULL DEFAULT (0), `results` json NULL, `report` json NULL, `reason` text NOT NULL DEFAULT (''), `created_by` text NOT NULL, `ended_at` datetime NULL, `agent_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_evaluations_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_evaluations_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "agentevaluation_company_id_agent_id_created_at_id" to table: "agent_evaluations"
CREATE INDEX `agentevaluation_company_id_agent_id_created_at_id` ON `agent_evaluations` (`company_id`, `agent_id`, `created_at`, `id`);
-- Create "agent_turns" table
CREATE TABLE `agent_turns` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `plan` integer NOT NULL, `n` integer NOT NULL, `content` json NULL, `run_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `agent_turns_agent_runs_run` FOREIGN KEY (`company_id`, `run_id`) REFERENCES `agent_runs` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `agent_turns_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "agentturn_company_id_run_id_plan_n" to table: "agent_turns"
CREATE UNIQUE INDEX `agentturn_company_id_run_id_plan_n` ON `agent_turns` (`company_id`, `run_id`, `plan`, `n`);
-- Create index "agentturn_created_at_id" to table: "agent_turns"
CREATE INDEX `agentturn_created_at_id` ON `agent_turns` (`created_at`, `id`);
-- Create "model_connections" table
CREATE TABLE `model_connections` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `name` text NOT NULL, `kind` text NOT NULL DEFAULT ('openai'), `base_url` text NOT NULL, `secret_name` text NOT NULL DEFAULT (''), `models` json NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `model_connections_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "modelconnection_company_id_created_at_id" to table: "model_connections"
CREATE INDEX `modelconnection_company_id_created_at_id` ON `model_connections` (`company_id`, `created_at`, `id`);
-- Create index "modelconnection_company_id_name" to table: "model_connections"
CREATE UNIQUE INDEX `modelconnection_company_id_name` ON `model_connections` (`company_id`, `name`);
-- Create index "modelconnection_company_id_secret_name" to table: "model_connections"
CREATE INDEX `modelconnection_company_id_secret_name` ON `model_connections` (`company_id`, `secret_name`);
-- Create index "model_connections_company_id_id" to table: "model_connections"
CREATE UNIQUE INDEX `model_connections_company_id_id` ON `model_connections` (`company_id`, `id`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
