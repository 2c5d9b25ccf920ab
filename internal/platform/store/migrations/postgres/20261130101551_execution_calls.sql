-- Modify "executions" table
ALTER TABLE "executions" ADD COLUMN "parent_id" character varying NULL, ADD COLUMN "parent_phase_id" character varying NULL, ADD COLUMN "parent_branch" character varying NULL, ADD COLUMN "parent_visit" bigint NULL, ADD COLUMN "parent_attempt" bigint NULL, ADD COLUMN "root_id" character varying NULL, ADD COLUMN "depth" bigint NOT NULL DEFAULT 0, ADD COLUMN "input" json NULL;
-- Create index "execution_company_id_parent_id_parent_visit_parent_attempt" to table: "executions"
CREATE UNIQUE INDEX "execution_company_id_parent_id_parent_visit_parent_attempt" ON "executions" ("company_id", "parent_id", "parent_visit", "parent_attempt");
-- Create index "execution_company_id_root_id" to table: "executions"
CREATE INDEX "execution_company_id_root_id" ON "executions" ("company_id", "root_id");
