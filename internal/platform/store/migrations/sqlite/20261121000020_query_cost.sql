-- Add column "query_cost" to table: "companies"
ALTER TABLE `companies` ADD COLUMN `query_cost` integer NULL;
