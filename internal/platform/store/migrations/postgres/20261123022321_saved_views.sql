-- Create "saved_views" table
CREATE TABLE "saved_views" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "scope" character varying NOT NULL, "query" character varying NOT NULL DEFAULT '', "user_id" character varying NOT NULL, "team_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "saved_views_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "saved_views_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "saved_views_users_user" FOREIGN KEY ("company_id", "user_id") REFERENCES "users" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "savedview_company_id_created_at_id" to table: "saved_views"
CREATE INDEX "savedview_company_id_created_at_id" ON "saved_views" ("company_id", "created_at", "id");
-- Create index "savedview_company_id_team_id" to table: "saved_views"
CREATE INDEX "savedview_company_id_team_id" ON "saved_views" ("company_id", "team_id");
-- Create index "savedview_company_id_user_id" to table: "saved_views"
CREATE INDEX "savedview_company_id_user_id" ON "saved_views" ("company_id", "user_id");
-- Put "saved_views" under row-level security
ALTER TABLE "saved_views" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "saved_views" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "saved_views" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
