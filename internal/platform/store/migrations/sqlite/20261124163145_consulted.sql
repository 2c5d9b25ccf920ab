-- Add column "consulted" to table: "executions"
ALTER TABLE `executions` ADD COLUMN `consulted` json NULL;
