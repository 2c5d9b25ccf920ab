-- Modify "executions" table
ALTER TABLE "executions" ADD COLUMN "consulted" json NULL;
