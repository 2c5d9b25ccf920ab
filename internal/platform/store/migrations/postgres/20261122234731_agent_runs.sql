-- Modify "agents" table
ALTER TABLE "agents" ADD COLUMN "status" character varying NOT NULL DEFAULT 'DRAFT', ADD COLUMN "version" bigint NOT NULL DEFAULT 0, ADD COLUMN "role" character varying NOT NULL DEFAULT 'agent', ADD COLUMN "scopes" jsonb NULL, ADD COLUMN "filter" character varying NOT NULL DEFAULT '', ADD COLUMN "sees" character varying NOT NULL DEFAULT 'requester', ADD COLUMN "instructions" character varying NOT NULL DEFAULT '', ADD COLUMN "engine" character varying NOT NULL DEFAULT 'history', ADD COLUMN "tools" json NULL, ADD COLUMN "runs_per_day" bigint NOT NULL DEFAULT 1000, ADD COLUMN "shadow" boolean NOT NULL DEFAULT false, ADD COLUMN "owner_id" character varying NULL, ADD CONSTRAINT "agents_users_owner" FOREIGN KEY ("company_id", "owner_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- Create index "agent_company_id_owner_id" to table: "agents"
CREATE INDEX "agent_company_id_owner_id" ON "agents" ("company_id", "owner_id");
-- Create "agent_runs" table
CREATE TABLE "agent_runs" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "agent_version" bigint NOT NULL, "number" bigint NOT NULL, "trigger" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'QUEUED', "shadow" boolean NOT NULL DEFAULT false, "steps" json NULL, "plans" bigint NOT NULL DEFAULT 0, "reason" character varying NOT NULL DEFAULT '', "ended_at" timestamptz NULL, "agent_id" character varying NOT NULL, "request_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agent_runs_agents_agent" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "agent_runs_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "agent_runs_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agent_runs_company_id_id" to table: "agent_runs"
CREATE UNIQUE INDEX "agent_runs_company_id_id" ON "agent_runs" ("company_id", "id");
-- Create index "agentrun_company_id_agent_id_created_at_id" to table: "agent_runs"
CREATE INDEX "agentrun_company_id_agent_id_created_at_id" ON "agent_runs" ("company_id", "agent_id", "created_at", "id");
-- Create index "agentrun_company_id_created_at_id" to table: "agent_runs"
CREATE INDEX "agentrun_company_id_created_at_id" ON "agent_runs" ("company_id", "created_at", "id");
-- Create index "agentrun_company_id_request_id_created_at_id" to table: "agent_runs"
CREATE INDEX "agentrun_company_id_request_id_created_at_id" ON "agent_runs" ("company_id", "request_id", "created_at", "id");
-- Create index "agentrun_company_id_request_id_number" to table: "agent_runs"
CREATE UNIQUE INDEX "agentrun_company_id_request_id_number" ON "agent_runs" ("company_id", "request_id", "number");
-- Create index "agentrun_company_id_status_created_at_id" to table: "agent_runs"
CREATE INDEX "agentrun_company_id_status_created_at_id" ON "agent_runs" ("company_id", "status", "created_at", "id");
-- Create index "agentrun_updated_at_id" to table: "agent_runs"
CREATE INDEX "agentrun_updated_at_id" ON "agent_runs" ("updated_at", "id");
-- Create "agent_actions" table
CREATE TABLE "agent_actions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "step" bigint NOT NULL, "kind" character varying NOT NULL, "operation" character varying NOT NULL, "arguments" json NULL, "changes" json NULL, "rationale" character varying NOT NULL, "confidence" double precision NOT NULL, "rows" jsonb NOT NULL, "digest" character varying NOT NULL, "row_version" character varying NOT NULL, "shadow" boolean NOT NULL DEFAULT false, "status" character varying NOT NULL DEFAULT 'PENDING', "decided_by" character varying NULL, "decided_at" timestamptz NULL, "comment" character varying NOT NULL DEFAULT '', "run_id" character varying NOT NULL, "request_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agent_actions_agent_runs_run" FOREIGN KEY ("company_id", "run_id") REFERENCES "agent_runs" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "agent_actions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "agent_actions_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agentaction_company_id_created_at_id" to table: "agent_actions"
CREATE INDEX "agentaction_company_id_created_at_id" ON "agent_actions" ("company_id", "created_at", "id");
-- Create index "agentaction_company_id_request_id_status" to table: "agent_actions"
CREATE INDEX "agentaction_company_id_request_id_status" ON "agent_actions" ("company_id", "request_id", "status");
-- Create index "agentaction_company_id_run_id_created_at_id" to table: "agent_actions"
CREATE INDEX "agentaction_company_id_run_id_created_at_id" ON "agent_actions" ("company_id", "run_id", "created_at", "id");
-- Create index "agentaction_company_id_status_created_at_id" to table: "agent_actions"
CREATE INDEX "agentaction_company_id_status_created_at_id" ON "agent_actions" ("company_id", "status", "created_at", "id");
-- Create "agent_versions" table
CREATE TABLE "agent_versions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "version" bigint NOT NULL, "settings" json NOT NULL, "published_at" timestamptz NOT NULL, "published_by" character varying NOT NULL, "agent_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agent_versions_agents_agent" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "agent_versions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agentversion_company_id_agent_id_version" to table: "agent_versions"
CREATE UNIQUE INDEX "agentversion_company_id_agent_id_version" ON "agent_versions" ("company_id", "agent_id", "version");
-- Put "agent_actions" under row-level security
ALTER TABLE "agent_actions" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "agent_actions" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "agent_actions" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "agent_runs" under row-level security
ALTER TABLE "agent_runs" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "agent_runs" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "agent_runs" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "agent_versions" under row-level security
ALTER TABLE "agent_versions" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "agent_versions" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "agent_versions" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
