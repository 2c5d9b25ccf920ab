-- Create index "tasks_company_id_id" to table: "tasks"
CREATE UNIQUE INDEX "tasks_company_id_id" ON "tasks" ("company_id", "id");
-- Modify "agent_runs" table
ALTER TABLE "agent_runs" ADD COLUMN "lease_until" timestamptz NULL, ADD COLUMN "outcome" character varying NOT NULL DEFAULT '', ADD COLUMN "task_id" character varying NULL, ADD CONSTRAINT "agent_runs_tasks_task" FOREIGN KEY ("company_id", "task_id") REFERENCES "tasks" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE;
-- Create index "agentrun_company_id_task_id" to table: "agent_runs"
CREATE INDEX "agentrun_company_id_task_id" ON "agent_runs" ("company_id", "task_id");
-- Modify "agents" table
ALTER TABLE "agents" ADD COLUMN "endpoint_url" character varying NOT NULL DEFAULT '', ADD COLUMN "consult_minutes" bigint NOT NULL DEFAULT 30, ADD COLUMN "secret_sealed" bytea NULL, ADD COLUMN "previous_sealed" bytea NULL, ADD COLUMN "previous_until" timestamptz NULL;
-- Modify "api_keys" table
ALTER TABLE "api_keys" ADD COLUMN "agent_id" character varying NULL, ADD CONSTRAINT "api_keys_agents_agent" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE;
