-- Add column "previous" to table: "secrets"
ALTER TABLE `secrets` ADD COLUMN `previous` blob NULL;
