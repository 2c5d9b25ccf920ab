-- Add column "agent_runs_per_day" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `agent_runs_per_day` integer NULL;
