-- Modify "inbound_webhooks" table
ALTER TABLE "inbound_webhooks" ADD COLUMN "when" character varying NULL, ADD COLUMN "preset" character varying NULL, ADD COLUMN "signature" json NULL;
