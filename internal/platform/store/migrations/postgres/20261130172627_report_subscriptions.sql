-- Create "report_subscriptions" table
CREATE TABLE "report_subscriptions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "query" character varying NOT NULL DEFAULT '', "next_at" timestamptz NOT NULL, "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "report_subscriptions_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "report_subscriptions_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "reportsubscription_company_id_created_at_id" to table: "report_subscriptions"
CREATE INDEX "reportsubscription_company_id_created_at_id" ON "report_subscriptions" ("company_id", "created_at", "id");
-- Create index "reportsubscription_company_id_user_id" to table: "report_subscriptions"
CREATE INDEX "reportsubscription_company_id_user_id" ON "report_subscriptions" ("company_id", "user_id");
-- Put "report_subscriptions" under row-level security
ALTER TABLE "report_subscriptions" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "report_subscriptions" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "report_subscriptions" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
