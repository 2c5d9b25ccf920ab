-- Add column "parts" to table: "billing_accounts"
ALTER TABLE `billing_accounts` ADD COLUMN `parts` json NULL;
