-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "agent_agreement" double precision NULL;
-- Create "model_connections" table
CREATE TABLE "model_connections" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "kind" character varying NOT NULL DEFAULT 'openai', "base_url" character varying NOT NULL, "secret_name" character varying NOT NULL DEFAULT '', "models" jsonb NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "model_connections_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "model_connections_company_id_id" to table: "model_connections"
CREATE UNIQUE INDEX "model_connections_company_id_id" ON "model_connections" ("company_id", "id");
-- Create index "modelconnection_company_id_created_at_id" to table: "model_connections"
CREATE INDEX "modelconnection_company_id_created_at_id" ON "model_connections" ("company_id", "created_at", "id");
-- Create index "modelconnection_company_id_name" to table: "model_connections"
CREATE UNIQUE INDEX "modelconnection_company_id_name" ON "model_connections" ("company_id", "name");
-- Create index "modelconnection_company_id_secret_name" to table: "model_connections"
CREATE INDEX "modelconnection_company_id_secret_name" ON "model_connections" ("company_id", "secret_name");
-- Modify "agents" table
ALTER TABLE "agents" ADD COLUMN "model" character varying NOT NULL DEFAULT '', ADD COLUMN "limits" json NULL, ADD COLUMN "model_connection_id" character varying NULL, ADD CONSTRAINT "agents_model_connections_model_connection" FOREIGN KEY ("company_id", "model_connection_id") REFERENCES "model_connections" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- Create index "agent_company_id_model_connection_id" to table: "agents"
CREATE INDEX "agent_company_id_model_connection_id" ON "agents" ("company_id", "model_connection_id");
-- Create "agent_evaluations" table
CREATE TABLE "agent_evaluations" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "settings" json NOT NULL, "digest" character varying NOT NULL, "cases" json NULL, "status" character varying NOT NULL DEFAULT 'RUNNING', "total" bigint NOT NULL DEFAULT 0, "results" json NULL, "report" json NULL, "reason" character varying NOT NULL DEFAULT '', "created_by" character varying NOT NULL, "ended_at" timestamptz NULL, "agent_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agent_evaluations_agents_agent" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "agent_evaluations_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agentevaluation_company_id_agent_id_created_at_id" to table: "agent_evaluations"
CREATE INDEX "agentevaluation_company_id_agent_id_created_at_id" ON "agent_evaluations" ("company_id", "agent_id", "created_at", "id");
-- Modify "agent_runs" table
ALTER TABLE "agent_runs" ADD COLUMN "model_calls" bigint NOT NULL DEFAULT 0, ADD COLUMN "input_tokens" bigint NOT NULL DEFAULT 0, ADD COLUMN "output_tokens" bigint NOT NULL DEFAULT 0;
-- Create "agent_turns" table
CREATE TABLE "agent_turns" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "plan" bigint NOT NULL, "n" bigint NOT NULL, "content" json NULL, "run_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "agent_turns_agent_runs_run" FOREIGN KEY ("company_id", "run_id") REFERENCES "agent_runs" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "agent_turns_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "agentturn_company_id_run_id_plan_n" to table: "agent_turns"
CREATE UNIQUE INDEX "agentturn_company_id_run_id_plan_n" ON "agent_turns" ("company_id", "run_id", "plan", "n");
-- Create index "agentturn_created_at_id" to table: "agent_turns"
CREATE INDEX "agentturn_created_at_id" ON "agent_turns" ("created_at", "id");
-- Put "agent_evaluations" under row-level security
ALTER TABLE "agent_evaluations" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "agent_evaluations" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "agent_evaluations" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "agent_turns" under row-level security
ALTER TABLE "agent_turns" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "agent_turns" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "agent_turns" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "model_connections" under row-level security
ALTER TABLE "model_connections" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "model_connections" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "model_connections" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
