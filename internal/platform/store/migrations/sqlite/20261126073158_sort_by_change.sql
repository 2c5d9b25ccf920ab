-- Create index "approval_company_id_updated_at_id" to table: "approvals"
CREATE INDEX `approval_company_id_updated_at_id` ON `approvals` (`company_id`, `updated_at`, `id`);
-- Create index "execution_company_id_updated_at_id" to table: "executions"
CREATE INDEX `execution_company_id_updated_at_id` ON `executions` (`company_id`, `updated_at`, `id`);
-- Create index "incident_company_id_updated_at_id" to table: "incidents"
CREATE INDEX `incident_company_id_updated_at_id` ON `incidents` (`company_id`, `updated_at`, `id`);
-- Create index "task_company_id_updated_at_id" to table: "tasks"
CREATE INDEX `task_company_id_updated_at_id` ON `tasks` (`company_id`, `updated_at`, `id`);
-- Create index "agentrun_company_id_updated_at_id" to table: "agent_runs"
CREATE INDEX `agentrun_company_id_updated_at_id` ON `agent_runs` (`company_id`, `updated_at`, `id`);
