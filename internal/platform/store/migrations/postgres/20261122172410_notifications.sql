-- Create "notifications" table
CREATE TABLE "notifications" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "kind" character varying NOT NULL, "subject" character varying NOT NULL, "read_at" timestamptz NULL, "digest_at" timestamptz NULL, "user_id" character varying NOT NULL, "request_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "notifications_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "notifications_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "notifications_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "notification_company_id_request_id" to table: "notifications"
CREATE INDEX "notification_company_id_request_id" ON "notifications" ("company_id", "request_id");
-- Create index "notification_company_id_user_id_created_at_id" to table: "notifications"
CREATE INDEX "notification_company_id_user_id_created_at_id" ON "notifications" ("company_id", "user_id", "created_at", "id");
-- Create index "notification_digest_at" to table: "notifications"
CREATE INDEX "notification_digest_at" ON "notifications" ("digest_at") WHERE (digest_at IS NOT NULL);
-- Put "notifications" under row-level security
ALTER TABLE "notifications" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "notifications" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "notifications" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
