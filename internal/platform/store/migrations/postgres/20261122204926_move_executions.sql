-- Create index "execution_updated_at_id" to table: "executions"
CREATE INDEX "execution_updated_at_id" ON "executions" ("updated_at", "id");
-- Modify "incidents" table
ALTER TABLE "incidents" ADD COLUMN "to_version" bigint NULL, ADD COLUMN "to_phase_id" character varying NULL;
-- Create index "task_updated_at_id" to table: "tasks"
CREATE INDEX "task_updated_at_id" ON "tasks" ("updated_at", "id");
