-- Add column "unproven_since" to table: "accounts"
ALTER TABLE `accounts` ADD COLUMN `unproven_since` datetime NULL;
