-- Modify "calendars" table
ALTER TABLE "calendars" ADD COLUMN "exceptions" jsonb NULL;
-- Modify "offerings" table
ALTER TABLE "offerings" ADD COLUMN "sla_by_priority" jsonb NULL, ADD COLUMN "sla_escalations" jsonb NULL;
-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "waiting" boolean NOT NULL DEFAULT false, ADD COLUMN "snoozed_until" timestamptz NULL, ADD COLUMN "response_due_at" timestamptz NULL, ADD COLUMN "resolution_due_at" timestamptz NULL, ADD COLUMN "response_due_order" bigint NOT NULL DEFAULT 253402300799999, ADD COLUMN "resolution_due_order" bigint NOT NULL DEFAULT 253402300799999, ADD COLUMN "sla_state" character varying NULL, ADD COLUMN "sla_next_at" timestamptz NULL;
-- Create index "request_company_id_resolution_due_order_id" to table: "requests"
CREATE INDEX "request_company_id_resolution_due_order_id" ON "requests" ("company_id", "resolution_due_order", "id");
-- Create index "request_company_id_response_due_order_id" to table: "requests"
CREATE INDEX "request_company_id_response_due_order_id" ON "requests" ("company_id", "response_due_order", "id");
-- Create index "request_company_id_sla_state_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_sla_state_created_at_id" ON "requests" ("company_id", "sla_state", "created_at", "id") WHERE (sla_state IS NOT NULL);
-- Create index "request_sla_next_at" to table: "requests"
CREATE INDEX "request_sla_next_at" ON "requests" ("sla_next_at") WHERE (sla_next_at IS NOT NULL);
-- Modify "tasks" table
ALTER TABLE "tasks" ADD COLUMN "sla_levels" jsonb NULL, ADD COLUMN "claimed_at" timestamptz NULL, ADD COLUMN "response_due_at" timestamptz NULL, ADD COLUMN "resolution_due_at" timestamptz NULL, ADD COLUMN "sla_state" character varying NULL, ADD COLUMN "sla_next_at" timestamptz NULL;
-- Create index "task_sla_next_at" to table: "tasks"
CREATE INDEX "task_sla_next_at" ON "tasks" ("sla_next_at") WHERE (sla_next_at IS NOT NULL);
-- Create "sla_events" table
CREATE TABLE "sla_events" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "subject_id" character varying NOT NULL, "kind" character varying NOT NULL, "key" character varying NOT NULL, "at" timestamptz NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "sla_events_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "slaevent_company_id_subject_id_kind_key" to table: "sla_events"
CREATE UNIQUE INDEX "slaevent_company_id_subject_id_kind_key" ON "sla_events" ("company_id", "subject_id", "kind", "key");
-- Put "sla_events" under row-level security
ALTER TABLE "sla_events" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "sla_events" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "sla_events" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- The clocks of open requests are derived when the product starts: the sweep finds these.
UPDATE "requests" SET "sla_next_at" = "created_at" WHERE "status" IN ('PENDING', 'IN_PROGRESS') AND EXISTS (SELECT 1 FROM "offerings" o WHERE o."company_id" = "requests"."company_id" AND o."id" = "requests"."offering_id" AND (o."response_minutes" IS NOT NULL OR o."resolution_minutes" IS NOT NULL));
