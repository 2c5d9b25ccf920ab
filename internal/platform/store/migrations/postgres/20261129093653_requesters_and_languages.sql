-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "locale" character varying NULL, ADD COLUMN "time_zone" character varying NULL;
-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "requester_id" character varying NULL;
-- Create index "request_company_id_requester_id_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_requester_id_created_at_id" ON "requests" ("company_id", "requester_id", "created_at", "id");
-- Modify "users" table
ALTER TABLE "users" ADD COLUMN "locale" character varying NULL, ADD COLUMN "time_zone" character varying NULL;
