-- Modify "companies" table
ALTER TABLE "companies" ADD COLUMN "invitations_per_day" bigint NULL;
-- Modify "idempotency_keys" table
ALTER TABLE "idempotency_keys" ADD COLUMN "resource" character varying NULL, ADD COLUMN "row_id" character varying NULL;
-- Modify "mailed_links" table
ALTER TABLE "mailed_links" ADD COLUMN "invited_by" character varying NULL;
-- Create index "mailedlink_invited_by_created_at" to table: "mailed_links"
CREATE INDEX "mailedlink_invited_by_created_at" ON "mailed_links" ("invited_by", "created_at");
