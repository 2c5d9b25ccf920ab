-- Modify "offerings" table
ALTER TABLE "offerings" ADD COLUMN "ask_satisfaction" boolean NOT NULL DEFAULT false;
-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "satisfaction" bigint NULL, ADD COLUMN "satisfaction_comment" character varying NULL, ADD COLUMN "satisfaction_asked_at" timestamptz NULL, ADD COLUMN "satisfaction_at" timestamptz NULL;
-- Create index "request_company_id_satisfaction_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_satisfaction_created_at_id" ON "requests" ("company_id", "satisfaction", "created_at", "id") WHERE (satisfaction IS NOT NULL);
-- Create "request_links" table
CREATE TABLE "request_links" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "type" character varying NOT NULL, "created_by" character varying NOT NULL, "from_id" character varying NOT NULL, "to_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "request_links_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "request_links_requests_from" FOREIGN KEY ("company_id", "from_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "request_links_requests_to" FOREIGN KEY ("company_id", "to_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "requestlink_company_id_from_id_to_id_type" to table: "request_links"
CREATE UNIQUE INDEX "requestlink_company_id_from_id_to_id_type" ON "request_links" ("company_id", "from_id", "to_id", "type");
-- Create index "requestlink_company_id_to_id" to table: "request_links"
CREATE INDEX "requestlink_company_id_to_id" ON "request_links" ("company_id", "to_id");
-- Create "saved_replies" table
CREATE TABLE "saved_replies" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "scope" character varying NOT NULL, "body" character varying NOT NULL, "user_id" character varying NOT NULL, "team_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "saved_replies_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "saved_replies_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "saved_replies_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "savedreply_company_id_created_at_id" to table: "saved_replies"
CREATE INDEX "savedreply_company_id_created_at_id" ON "saved_replies" ("company_id", "created_at", "id");
-- Create index "savedreply_company_id_team_id" to table: "saved_replies"
CREATE INDEX "savedreply_company_id_team_id" ON "saved_replies" ("company_id", "team_id");
-- Create index "savedreply_company_id_user_id" to table: "saved_replies"
CREATE INDEX "savedreply_company_id_user_id" ON "saved_replies" ("company_id", "user_id");
-- Put "request_links" under row-level security
ALTER TABLE "request_links" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "request_links" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "request_links" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "saved_replies" under row-level security
ALTER TABLE "saved_replies" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "saved_replies" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "saved_replies" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
