-- Modify "comments" table
ALTER TABLE "comments" ADD COLUMN "format" character varying NOT NULL DEFAULT 'plain';
-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "format" character varying NOT NULL DEFAULT 'plain';
-- Create "watchers" table
CREATE TABLE "watchers" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "request_id" character varying NOT NULL, "user_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "watchers_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "watchers_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "watchers_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "watcher_company_id_request_id_user_id" to table: "watchers"
CREATE UNIQUE INDEX "watcher_company_id_request_id_user_id" ON "watchers" ("company_id", "request_id", "user_id");
-- Create index "watcher_company_id_user_id_request_id" to table: "watchers"
CREATE INDEX "watcher_company_id_user_id_request_id" ON "watchers" ("company_id", "user_id", "request_id");
-- Put "watchers" under row-level security
ALTER TABLE "watchers" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "watchers" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "watchers" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
