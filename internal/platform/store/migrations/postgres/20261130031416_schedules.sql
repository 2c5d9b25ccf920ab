-- Create "schedules" table
CREATE TABLE "schedules" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "request" json NULL, "cron" character varying NULL, "every" jsonb NULL, "time_zone" character varying NOT NULL, "on_closed" character varying NOT NULL DEFAULT 'SKIP', "missed" character varying NOT NULL DEFAULT 'ONCE', "enabled" boolean NOT NULL DEFAULT true, "next_run_at" timestamptz NULL, "runs_as" character varying NOT NULL, "created_by" character varying NOT NULL, "workflow_id" character varying NULL, "offering_id" character varying NULL, "calendar_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "schedules_calendars_calendar" FOREIGN KEY ("company_id", "calendar_id") REFERENCES "calendars" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "schedules_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "schedules_offerings_offering" FOREIGN KEY ("company_id", "offering_id") REFERENCES "offerings" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "schedules_workflows_workflow" FOREIGN KEY ("company_id", "workflow_id") REFERENCES "workflows" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "schedule_company_id_calendar_id" to table: "schedules"
CREATE INDEX "schedule_company_id_calendar_id" ON "schedules" ("company_id", "calendar_id");
-- Create index "schedule_company_id_created_at_id" to table: "schedules"
CREATE INDEX "schedule_company_id_created_at_id" ON "schedules" ("company_id", "created_at", "id");
-- Create index "schedule_company_id_offering_id" to table: "schedules"
CREATE INDEX "schedule_company_id_offering_id" ON "schedules" ("company_id", "offering_id");
-- Create index "schedule_company_id_workflow_id" to table: "schedules"
CREATE INDEX "schedule_company_id_workflow_id" ON "schedules" ("company_id", "workflow_id");
-- Create index "schedules_company_id_id" to table: "schedules"
CREATE UNIQUE INDEX "schedules_company_id_id" ON "schedules" ("company_id", "id");
-- Create "schedule_runs" table
CREATE TABLE "schedule_runs" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "planned_at" timestamptz NOT NULL, "started_at" timestamptz NULL, "status" character varying NOT NULL, "reason" character varying NULL, "execution_id" character varying NULL, "request_id" character varying NULL, "schedule_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "schedule_runs_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "schedule_runs_schedules_schedule" FOREIGN KEY ("company_id", "schedule_id") REFERENCES "schedules" ("company_id", "id") ON UPDATE NO ACTION ON DELETE CASCADE);
-- Create index "schedulerun_company_id_schedule_id_created_at_id" to table: "schedule_runs"
CREATE INDEX "schedulerun_company_id_schedule_id_created_at_id" ON "schedule_runs" ("company_id", "schedule_id", "created_at", "id");
-- Create index "schedulerun_company_id_schedule_id_planned_at" to table: "schedule_runs"
CREATE UNIQUE INDEX "schedulerun_company_id_schedule_id_planned_at" ON "schedule_runs" ("company_id", "schedule_id", "planned_at");
-- Put "schedule_runs" under row-level security
ALTER TABLE "schedule_runs" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "schedule_runs" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "schedule_runs" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "schedules" under row-level security
ALTER TABLE "schedules" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "schedules" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "schedules" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
