-- Create "request_imports" table
CREATE TABLE "request_imports" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'CHECKED', "source" character varying NOT NULL, "created_by" character varying NOT NULL, "rows" bigint NOT NULL, "done" bigint NOT NULL DEFAULT 0, "imported" bigint NOT NULL DEFAULT 0, "known" bigint NOT NULL DEFAULT 0, "faulty" bigint NOT NULL DEFAULT 0, "faults" jsonb NULL, "columns" jsonb NOT NULL, "finished_at" timestamptz NULL, "settings" jsonb NOT NULL, "csv" text NULL, PRIMARY KEY ("id"), CONSTRAINT "request_imports_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "requestimport_company_id_created_at_id" to table: "request_imports"
CREATE INDEX "requestimport_company_id_created_at_id" ON "request_imports" ("company_id", "created_at", "id");
-- Create index "requestimport_company_id_status" to table: "request_imports"
CREATE INDEX "requestimport_company_id_status" ON "request_imports" ("company_id", "status");
-- Create index "requestimport_updated_at" to table: "request_imports"
CREATE INDEX "requestimport_updated_at" ON "request_imports" ("updated_at");
-- Put "request_imports" under row-level security
ALTER TABLE "request_imports" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "request_imports" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "request_imports" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
