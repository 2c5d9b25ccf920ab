-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "agent_runs_per_day" bigint NULL;
