-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "routing_rule_id" character varying NULL;
-- Create "routing_rules" table
CREATE TABLE "routing_rules" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "name" character varying NOT NULL, "position" bigint NOT NULL, "when" character varying NOT NULL, "assign_to" character varying NOT NULL DEFAULT 'none', "priority" character varying NULL, "enabled" boolean NOT NULL DEFAULT true, "last_assignee_id" character varying NULL, "team_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "routing_rules_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "routing_rules_teams_team" FOREIGN KEY ("company_id", "team_id") REFERENCES "teams" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "routingrule_company_id_created_at_id" to table: "routing_rules"
CREATE INDEX "routingrule_company_id_created_at_id" ON "routing_rules" ("company_id", "created_at", "id");
-- Create index "routingrule_company_id_position_created_at_id" to table: "routing_rules"
CREATE INDEX "routingrule_company_id_position_created_at_id" ON "routing_rules" ("company_id", "position", "created_at", "id");
-- Create index "routingrule_company_id_team_id" to table: "routing_rules"
CREATE INDEX "routingrule_company_id_team_id" ON "routing_rules" ("company_id", "team_id");
-- Put "routing_rules" under row-level security
ALTER TABLE "routing_rules" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "routing_rules" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "routing_rules" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
