-- Modify "audit_entries" table
ALTER TABLE "audit_entries" ADD COLUMN "actor_seal" bytea NULL, ADD COLUMN "changes_seal" bytea NULL, ADD COLUMN "leaf_hash" bytea NULL;
-- Create "audit_leaves" table
CREATE TABLE "audit_leaves" ("id" character varying NOT NULL, "company_id" character varying NOT NULL, "index" bigint NOT NULL, "hashes" bytea NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "audit_leaves_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "auditleaf_company_id_index" to table: "audit_leaves"
CREATE UNIQUE INDEX "auditleaf_company_id_index" ON "audit_leaves" ("company_id", "index");
-- Put "audit_leaves" under row-level security
ALTER TABLE "audit_leaves" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "audit_leaves" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "audit_leaves" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
