-- Add column "branch" to table: "phase_visits"
ALTER TABLE `phase_visits` ADD COLUMN `branch` text NULL;
