-- Add column "headers" to table: "inbound_webhooks"
ALTER TABLE `inbound_webhooks` ADD COLUMN `headers` json NULL;
