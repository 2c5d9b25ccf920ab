-- Create index "events_company_id_id" to table: "events"
CREATE UNIQUE INDEX "events_company_id_id" ON "events" ("company_id", "id");
-- Create "webhook_subscriptions" table
CREATE TABLE "webhook_subscriptions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "url" character varying NOT NULL, "events" jsonb NOT NULL, "description" character varying NULL, "secret_sealed" bytea NOT NULL, "previous_sealed" bytea NULL, "previous_until" timestamptz NULL, "enabled" boolean NOT NULL DEFAULT true, "disabled_reason" character varying NULL, "failing_since" timestamptz NULL, "created_by" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "webhook_subscriptions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "webhook_subscriptions_company_id_id" to table: "webhook_subscriptions"
CREATE UNIQUE INDEX "webhook_subscriptions_company_id_id" ON "webhook_subscriptions" ("company_id", "id");
-- Create index "webhooksubscription_company_id_created_at_id" to table: "webhook_subscriptions"
CREATE INDEX "webhooksubscription_company_id_created_at_id" ON "webhook_subscriptions" ("company_id", "created_at", "id");
-- Create "webhook_deliveries" table
CREATE TABLE "webhook_deliveries" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "event" character varying NOT NULL, "outcome" character varying NOT NULL DEFAULT 'PENDING', "retry_count" bigint NOT NULL DEFAULT 0, "next_attempt_at" timestamptz NULL, "attempts" jsonb NULL, "subscription_id" character varying NOT NULL, "event_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "webhook_deliveries_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "webhook_deliveries_events_source" FOREIGN KEY ("company_id", "event_id") REFERENCES "events" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE, CONSTRAINT "webhook_deliveries_webhook_subscriptions_subscription" FOREIGN KEY ("company_id", "subscription_id") REFERENCES "webhook_subscriptions" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "webhookdelivery_company_id_created_at_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_company_id_created_at_id" ON "webhook_deliveries" ("company_id", "created_at", "id");
-- Create index "webhookdelivery_company_id_event_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_company_id_event_id" ON "webhook_deliveries" ("company_id", "event_id");
-- Create index "webhookdelivery_company_id_outcome_created_at_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_company_id_outcome_created_at_id" ON "webhook_deliveries" ("company_id", "outcome", "created_at", "id");
-- Create index "webhookdelivery_company_id_subscription_id_created_at_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_company_id_subscription_id_created_at_id" ON "webhook_deliveries" ("company_id", "subscription_id", "created_at", "id");
-- Create index "webhookdelivery_created_at" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_created_at" ON "webhook_deliveries" ("created_at");
