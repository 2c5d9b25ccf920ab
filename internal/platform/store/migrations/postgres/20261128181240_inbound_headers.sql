-- Modify "inbound_webhooks" table
ALTER TABLE "inbound_webhooks" ADD COLUMN "headers" jsonb NULL;
