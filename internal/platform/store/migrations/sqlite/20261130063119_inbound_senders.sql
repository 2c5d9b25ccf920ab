-- Add column "when" to table: "inbound_webhooks"
ALTER TABLE `inbound_webhooks` ADD COLUMN `when` text NULL;
-- Add column "preset" to table: "inbound_webhooks"
ALTER TABLE `inbound_webhooks` ADD COLUMN `preset` text NULL;
-- Add column "signature" to table: "inbound_webhooks"
ALTER TABLE `inbound_webhooks` ADD COLUMN `signature` json NULL;
