-- Create index "agents_company_id_id" to table: "agents"
CREATE UNIQUE INDEX `agents_company_id_id` ON `agents` (`company_id`, `id`);
-- Add column "execution_id" to table: "requests"
ALTER TABLE `requests` ADD COLUMN `execution_id` text NULL;
-- Create index "requests_company_id_id" to table: "requests"
CREATE UNIQUE INDEX `requests_company_id_id` ON `requests` (`company_id`, `id`);
-- Create "approvals" table
CREATE TABLE `approvals` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `phase_id` text NOT NULL, `visit` integer NOT NULL, `attempt` integer NOT NULL, `title` text NOT NULL, `status` text NOT NULL DEFAULT ('PENDING'), `sign_off` bool NOT NULL DEFAULT (false), `mode` text NOT NULL, `quorum` integer NOT NULL DEFAULT (0), `sequential` bool NOT NULL DEFAULT (false), `approvers` json NULL, `decisions` json NULL, `expires_at` datetime NULL, `execution_id` text NOT NULL, `request_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `approvals_executions_execution` FOREIGN KEY (`company_id`, `execution_id`) REFERENCES `executions` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `approvals_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `approvals_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "approval_company_id_created_at_id" to table: "approvals"
CREATE INDEX `approval_company_id_created_at_id` ON `approvals` (`company_id`, `created_at`, `id`);
-- Create index "approval_company_id_execution_id_visit_attempt" to table: "approvals"
CREATE UNIQUE INDEX `approval_company_id_execution_id_visit_attempt` ON `approvals` (`company_id`, `execution_id`, `visit`, `attempt`);
-- Create index "approval_company_id_status_created_at_id" to table: "approvals"
CREATE INDEX `approval_company_id_status_created_at_id` ON `approvals` (`company_id`, `status`, `created_at`, `id`);
-- Create index "approval_company_id_request_id_created_at_id" to table: "approvals"
CREATE INDEX `approval_company_id_request_id_created_at_id` ON `approvals` (`company_id`, `request_id`, `created_at`, `id`);
-- Create "executions" table
CREATE TABLE `executions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `workflow_version` integer NOT NULL, `status` text NOT NULL DEFAULT ('RUNNING'), `trigger` text NOT NULL, `phase_id` text NULL, `revision` integer NOT NULL DEFAULT (0), `state` json NULL, `webhook` json NULL, `error` json NULL, `started_at` datetime NULL, `finished_at` datetime NULL, `workflow_id` text NOT NULL, `request_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `executions_workflows_workflow` FOREIGN KEY (`company_id`, `workflow_id`) REFERENCES `workflows` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `executions_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `executions_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "execution_company_id_created_at_id" to table: "executions"
CREATE INDEX `execution_company_id_created_at_id` ON `executions` (`company_id`, `created_at`, `id`);
-- Create index "execution_company_id_status_created_at_id" to table: "executions"
CREATE INDEX `execution_company_id_status_created_at_id` ON `executions` (`company_id`, `status`, `created_at`, `id`);
-- Create index "execution_company_id_workflow_id_created_at_id" to table: "executions"
CREATE INDEX `execution_company_id_workflow_id_created_at_id` ON `executions` (`company_id`, `workflow_id`, `created_at`, `id`);
-- Create index "execution_company_id_request_id_created_at_id" to table: "executions"
CREATE INDEX `execution_company_id_request_id_created_at_id` ON `executions` (`company_id`, `request_id`, `created_at`, `id`);
-- Create index "executions_company_id_id" to table: "executions"
CREATE UNIQUE INDEX `executions_company_id_id` ON `executions` (`company_id`, `id`);
-- Create "incidents" table
CREATE TABLE `incidents` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `phase_id` text NOT NULL, `visit` integer NOT NULL, `attempt` integer NOT NULL, `code` text NOT NULL, `message` text NOT NULL, `status` text NOT NULL DEFAULT ('OPEN'), `resolution` text NULL, `variables` json NULL, `resolved_by` text NULL, `resolved_at` datetime NULL, `execution_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `incidents_executions_execution` FOREIGN KEY (`company_id`, `execution_id`) REFERENCES `executions` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `incidents_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "incident_company_id_created_at_id" to table: "incidents"
CREATE INDEX `incident_company_id_created_at_id` ON `incidents` (`company_id`, `created_at`, `id`);
-- Create index "incident_company_id_execution_id_visit_attempt" to table: "incidents"
CREATE UNIQUE INDEX `incident_company_id_execution_id_visit_attempt` ON `incidents` (`company_id`, `execution_id`, `visit`, `attempt`);
-- Create index "incident_company_id_status_created_at_id" to table: "incidents"
CREATE INDEX `incident_company_id_status_created_at_id` ON `incidents` (`company_id`, `status`, `created_at`, `id`);
-- Create "phase_visits" table
CREATE TABLE `phase_visits` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `number` integer NOT NULL, `phase_id` text NOT NULL, `type` text NOT NULL, `status` text NOT NULL, `started_at` datetime NOT NULL, `finished_at` datetime NULL, `transition` text NOT NULL DEFAULT (''), `attempts` integer NOT NULL DEFAULT (1), `input` json NULL, `output` json NULL, `error` json NULL, `execution_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `phase_visits_executions_execution` FOREIGN KEY (`company_id`, `execution_id`) REFERENCES `executions` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `phase_visits_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "phasevisit_company_id_execution_id_number" to table: "phase_visits"
CREATE UNIQUE INDEX `phasevisit_company_id_execution_id_number` ON `phase_visits` (`company_id`, `execution_id`, `number`);
-- Create "tasks" table
CREATE TABLE `tasks` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `company_id` text NOT NULL, `phase_id` text NOT NULL, `visit` integer NOT NULL, `attempt` integer NOT NULL, `title` text NOT NULL, `instructions` text NOT NULL DEFAULT (''), `status` text NOT NULL DEFAULT ('OPEN'), `due_at` datetime NULL, `form` json NULL, `outcomes` json NULL, `corrections` json NULL, `outcome` text NULL, `variables` json NULL, `completed_by` text NULL, `completed_at` datetime NULL, `execution_id` text NOT NULL, `request_id` text NULL, `assignee_id` text NULL, `team_id` text NULL, `agent_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `tasks_executions_execution` FOREIGN KEY (`company_id`, `execution_id`) REFERENCES `executions` (`company_id`, `id`) ON DELETE CASCADE, CONSTRAINT `tasks_requests_request` FOREIGN KEY (`company_id`, `request_id`) REFERENCES `requests` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `tasks_users_assignee` FOREIGN KEY (`company_id`, `assignee_id`) REFERENCES `users` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `tasks_teams_team` FOREIGN KEY (`company_id`, `team_id`) REFERENCES `teams` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `tasks_agents_agent` FOREIGN KEY (`company_id`, `agent_id`) REFERENCES `agents` (`company_id`, `id`) ON DELETE NO ACTION, CONSTRAINT `tasks_company_owner` FOREIGN KEY (`company_id`) REFERENCES `companies` (`id`) ON DELETE NO ACTION);
-- Create index "task_company_id_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_created_at_id` ON `tasks` (`company_id`, `created_at`, `id`);
-- Create index "task_company_id_execution_id_visit_attempt" to table: "tasks"
CREATE UNIQUE INDEX `task_company_id_execution_id_visit_attempt` ON `tasks` (`company_id`, `execution_id`, `visit`, `attempt`);
-- Create index "task_company_id_status_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_status_created_at_id` ON `tasks` (`company_id`, `status`, `created_at`, `id`);
-- Create index "task_company_id_assignee_id_status_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_assignee_id_status_created_at_id` ON `tasks` (`company_id`, `assignee_id`, `status`, `created_at`, `id`);
-- Create index "task_company_id_team_id_status_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_team_id_status_created_at_id` ON `tasks` (`company_id`, `team_id`, `status`, `created_at`, `id`);
-- Create index "task_company_id_agent_id_status_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_agent_id_status_created_at_id` ON `tasks` (`company_id`, `agent_id`, `status`, `created_at`, `id`);
-- Create index "task_company_id_request_id_created_at_id" to table: "tasks"
CREATE INDEX `task_company_id_request_id_created_at_id` ON `tasks` (`company_id`, `request_id`, `created_at`, `id`);
