-- Modify "executions" table
ALTER TABLE "executions" ADD COLUMN "inbound_webhook_id" character varying NULL, ADD COLUMN "inbound_key" character varying NULL, ADD COLUMN "intake" json NULL;
-- Create index "execution_company_id_inbound_webhook_id_inbound_key" to table: "executions"
CREATE UNIQUE INDEX "execution_company_id_inbound_webhook_id_inbound_key" ON "executions" ("company_id", "inbound_webhook_id", "inbound_key");
-- Create "inbound_webhooks" table
CREATE TABLE "inbound_webhooks" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "field_mapping" json NULL, "signature_style" character varying NOT NULL DEFAULT 'hex', "verify_signature" boolean NOT NULL DEFAULT true, "enabled" boolean NOT NULL DEFAULT true, "secret_sealed" bytea NOT NULL, "previous_sealed" bytea NULL, "previous_until" timestamptz NULL, "created_by" character varying NOT NULL, "workflow_id" character varying NOT NULL, "offering_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "inbound_webhooks_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "inbound_webhooks_offerings_offering" FOREIGN KEY ("company_id", "offering_id") REFERENCES "offerings" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "inbound_webhooks_workflows_workflow" FOREIGN KEY ("company_id", "workflow_id") REFERENCES "workflows" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "inbound_webhooks_company_id_id" to table: "inbound_webhooks"
CREATE UNIQUE INDEX "inbound_webhooks_company_id_id" ON "inbound_webhooks" ("company_id", "id");
-- Create index "inboundwebhook_company_id_created_at_id" to table: "inbound_webhooks"
CREATE INDEX "inboundwebhook_company_id_created_at_id" ON "inbound_webhooks" ("company_id", "created_at", "id");
-- Create index "inboundwebhook_company_id_offering_id" to table: "inbound_webhooks"
CREATE INDEX "inboundwebhook_company_id_offering_id" ON "inbound_webhooks" ("company_id", "offering_id");
-- Create index "inboundwebhook_company_id_workflow_id" to table: "inbound_webhooks"
CREATE INDEX "inboundwebhook_company_id_workflow_id" ON "inbound_webhooks" ("company_id", "workflow_id");
-- Create "inbound_calls" table
CREATE TABLE "inbound_calls" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "outcome" character varying NOT NULL, "reason" character varying NULL, "execution_id" character varying NULL, "replay_of" character varying NULL, "headers" jsonb NULL, "body" character varying NOT NULL DEFAULT '', "body_bytes" bigint NOT NULL DEFAULT 0, "webhook_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "inbound_calls_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "inbound_calls_inbound_webhooks_webhook" FOREIGN KEY ("company_id", "webhook_id") REFERENCES "inbound_webhooks" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "inboundcall_company_id_webhook_id_created_at_id" to table: "inbound_calls"
CREATE INDEX "inboundcall_company_id_webhook_id_created_at_id" ON "inbound_calls" ("company_id", "webhook_id", "created_at", "id");
-- Create index "inboundcall_created_at_id" to table: "inbound_calls"
CREATE INDEX "inboundcall_created_at_id" ON "inbound_calls" ("created_at", "id");
-- Put "inbound_calls" under row-level security
ALTER TABLE "inbound_calls" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "inbound_calls" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "inbound_calls" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "inbound_webhooks" under row-level security
ALTER TABLE "inbound_webhooks" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "inbound_webhooks" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "inbound_webhooks" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
