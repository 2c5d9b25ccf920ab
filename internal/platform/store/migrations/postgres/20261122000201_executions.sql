-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "execution_id" character varying NULL;
-- Create index "requests_company_id_id" to table: "requests"
CREATE UNIQUE INDEX "requests_company_id_id" ON "requests" ("company_id", "id");
-- Create "executions" table
CREATE TABLE "executions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "workflow_version" bigint NOT NULL, "status" character varying NOT NULL DEFAULT 'RUNNING', "trigger" character varying NOT NULL, "phase_id" character varying NULL, "revision" bigint NOT NULL DEFAULT 0, "state" json NULL, "webhook" json NULL, "error" json NULL, "started_at" timestamptz NULL, "finished_at" timestamptz NULL, "workflow_id" character varying NOT NULL, "request_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "executions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "executions_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "executions_workflows_workflow" FOREIGN KEY ("company_id", "workflow_id") REFERENCES "workflows" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "execution_company_id_created_at_id" to table: "executions"
CREATE INDEX "execution_company_id_created_at_id" ON "executions" ("company_id", "created_at", "id");
-- Create index "execution_company_id_request_id_created_at_id" to table: "executions"
CREATE INDEX "execution_company_id_request_id_created_at_id" ON "executions" ("company_id", "request_id", "created_at", "id");
-- Create index "execution_company_id_status_created_at_id" to table: "executions"
CREATE INDEX "execution_company_id_status_created_at_id" ON "executions" ("company_id", "status", "created_at", "id");
-- Create index "execution_company_id_workflow_id_created_at_id" to table: "executions"
CREATE INDEX "execution_company_id_workflow_id_created_at_id" ON "executions" ("company_id", "workflow_id", "created_at", "id");
-- Create index "executions_company_id_id" to table: "executions"
CREATE UNIQUE INDEX "executions_company_id_id" ON "executions" ("company_id", "id");
-- Create "approvals" table
CREATE TABLE "approvals" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "phase_id" character varying NOT NULL, "visit" bigint NOT NULL, "attempt" bigint NOT NULL, "title" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'PENDING', "sign_off" boolean NOT NULL DEFAULT false, "mode" character varying NOT NULL, "quorum" bigint NOT NULL DEFAULT 0, "sequential" boolean NOT NULL DEFAULT false, "approvers" json NULL, "decisions" json NULL, "expires_at" timestamptz NULL, "execution_id" character varying NOT NULL, "request_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "approvals_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "approvals_executions_execution" FOREIGN KEY ("company_id", "execution_id") REFERENCES "executions" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "approvals_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "approval_company_id_created_at_id" to table: "approvals"
CREATE INDEX "approval_company_id_created_at_id" ON "approvals" ("company_id", "created_at", "id");
-- Create index "approval_company_id_execution_id_visit_attempt" to table: "approvals"
CREATE UNIQUE INDEX "approval_company_id_execution_id_visit_attempt" ON "approvals" ("company_id", "execution_id", "visit", "attempt");
-- Create index "approval_company_id_request_id_created_at_id" to table: "approvals"
CREATE INDEX "approval_company_id_request_id_created_at_id" ON "approvals" ("company_id", "request_id", "created_at", "id");
-- Create index "approval_company_id_status_created_at_id" to table: "approvals"
CREATE INDEX "approval_company_id_status_created_at_id" ON "approvals" ("company_id", "status", "created_at", "id");
-- Create "incidents" table
CREATE TABLE "incidents" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "phase_id" character varying NOT NULL, "visit" bigint NOT NULL, "attempt" bigint NOT NULL, "code" character varying NOT NULL, "message" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'OPEN', "resolution" character varying NULL, "variables" json NULL, "resolved_by" character varying NULL, "resolved_at" timestamptz NULL, "execution_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "incidents_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "incidents_executions_execution" FOREIGN KEY ("company_id", "execution_id") REFERENCES "executions" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "incident_company_id_created_at_id" to table: "incidents"
CREATE INDEX "incident_company_id_created_at_id" ON "incidents" ("company_id", "created_at", "id");
-- Create index "incident_company_id_execution_id_visit_attempt" to table: "incidents"
CREATE UNIQUE INDEX "incident_company_id_execution_id_visit_attempt" ON "incidents" ("company_id", "execution_id", "visit", "attempt");
-- Create index "incident_company_id_status_created_at_id" to table: "incidents"
CREATE INDEX "incident_company_id_status_created_at_id" ON "incidents" ("company_id", "status", "created_at", "id");
-- Create "phase_visits" table
CREATE TABLE "phase_visits" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "number" bigint NOT NULL, "phase_id" character varying NOT NULL, "type" character varying NOT NULL, "status" character varying NOT NULL, "started_at" timestamptz NOT NULL, "finished_at" timestamptz NULL, "transition" character varying NOT NULL DEFAULT '', "attempts" bigint NOT NULL DEFAULT 1, "input" json NULL, "output" json NULL, "error" json NULL, "execution_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "phase_visits_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "phase_visits_executions_execution" FOREIGN KEY ("company_id", "execution_id") REFERENCES "executions" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "phasevisit_company_id_execution_id_number" to table: "phase_visits"
CREATE UNIQUE INDEX "phasevisit_company_id_execution_id_number" ON "phase_visits" ("company_id", "execution_id", "number");
-- Create index "agents_company_id_id" to table: "agents"
CREATE UNIQUE INDEX "agents_company_id_id" ON "agents" ("company_id", "id");
-- Create "tasks" table
CREATE TABLE "tasks" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "phase_id" character varying NOT NULL, "visit" bigint NOT NULL, "attempt" bigint NOT NULL, "title" character varying NOT NULL, "instructions" character varying NOT NULL DEFAULT '', "status" character varying NOT NULL DEFAULT 'OPEN', "due_at" timestamptz NULL, "form" json NULL, "outcomes" jsonb NULL, "corrections" json NULL, "outcome" character varying NULL, "variables" json NULL, "completed_by" character varying NULL, "completed_at" timestamptz NULL, "execution_id" character varying NOT NULL, "request_id" character varying NULL, "assignee_id" character varying NULL, "team_id" character varying NULL, "agent_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "tasks_agents_agent" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "tasks_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "tasks_executions_execution" FOREIGN KEY ("company_id", "execution_id") REFERENCES "executions" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "tasks_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "tasks_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "tasks_users_assignee" FOREIGN KEY ("company_id", "assignee_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "task_company_id_agent_id_status_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_agent_id_status_created_at_id" ON "tasks" ("company_id", "agent_id", "status", "created_at", "id");
-- Create index "task_company_id_assignee_id_status_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_assignee_id_status_created_at_id" ON "tasks" ("company_id", "assignee_id", "status", "created_at", "id");
-- Create index "task_company_id_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_created_at_id" ON "tasks" ("company_id", "created_at", "id");
-- Create index "task_company_id_execution_id_visit_attempt" to table: "tasks"
CREATE UNIQUE INDEX "task_company_id_execution_id_visit_attempt" ON "tasks" ("company_id", "execution_id", "visit", "attempt");
-- Create index "task_company_id_request_id_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_request_id_created_at_id" ON "tasks" ("company_id", "request_id", "created_at", "id");
-- Create index "task_company_id_status_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_status_created_at_id" ON "tasks" ("company_id", "status", "created_at", "id");
-- Create index "task_company_id_team_id_status_created_at_id" to table: "tasks"
CREATE INDEX "task_company_id_team_id_status_created_at_id" ON "tasks" ("company_id", "team_id", "status", "created_at", "id");
-- Put "approvals" under row-level security
ALTER TABLE "approvals" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "approvals" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "approvals" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "executions" under row-level security
ALTER TABLE "executions" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "executions" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "executions" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "incidents" under row-level security
ALTER TABLE "incidents" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "incidents" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "incidents" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "phase_visits" under row-level security
ALTER TABLE "phase_visits" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "phase_visits" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "phase_visits" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "tasks" under row-level security
ALTER TABLE "tasks" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "tasks" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "tasks" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
