-- Modify "billing_accounts" table
ALTER TABLE "billing_accounts" ADD COLUMN "credit_notes" bigint NOT NULL DEFAULT 0, ADD COLUMN "customer" character varying NOT NULL DEFAULT '', ADD COLUMN "payment_method" character varying NOT NULL DEFAULT '';
-- Create index "creditentry_company_id_type_number" to table: "credit_entries"
CREATE INDEX "creditentry_company_id_type_number" ON "credit_entries" ("company_id", "type", "number");
-- Drop index "invoice_company_id_number" from table: "invoices"
DROP INDEX "invoice_company_id_number";
-- Modify "invoices" table
ALTER TABLE "invoices" ADD COLUMN "bill_to" character varying NOT NULL DEFAULT '', ADD COLUMN "credited" bigint NOT NULL DEFAULT 0, ADD COLUMN "next_charge_at" timestamptz NULL;
-- Create index "invoice_company_id_number" to table: "invoices"
CREATE UNIQUE INDEX "invoice_company_id_number" ON "invoices" ("company_id", "number") WHERE (number > 0);
-- Create index "invoice_next_charge_at" to table: "invoices"
CREATE INDEX "invoice_next_charge_at" ON "invoices" ("next_charge_at");
-- Create "credit_notes" table
CREATE TABLE "credit_notes" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "number" bigint NOT NULL, "invoice_id" character varying NOT NULL, "bill_to" character varying NOT NULL, "description" character varying NOT NULL, "amount" bigint NOT NULL, "credited" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "credit_notes_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "creditnote_company_id_invoice_id" to table: "credit_notes"
CREATE INDEX "creditnote_company_id_invoice_id" ON "credit_notes" ("company_id", "invoice_id");
-- Create index "creditnote_company_id_number" to table: "credit_notes"
CREATE UNIQUE INDEX "creditnote_company_id_number" ON "credit_notes" ("company_id", "number");
-- Create "payments" table
CREATE TABLE "payments" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "invoice_id" character varying NOT NULL, "attempt" bigint NOT NULL, "amount" bigint NOT NULL, "customer" character varying NOT NULL, "payment_method" character varying NOT NULL, "status" character varying NOT NULL, "reference" character varying NOT NULL DEFAULT '', "failure" character varying NOT NULL DEFAULT '', "settled_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "payments_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "payment_company_id_invoice_id_attempt" to table: "payments"
CREATE UNIQUE INDEX "payment_company_id_invoice_id_attempt" ON "payments" ("company_id", "invoice_id", "attempt");
-- Put "credit_notes" under row-level security
ALTER TABLE "credit_notes" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "credit_notes" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "credit_notes" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "payments" under row-level security
ALTER TABLE "payments" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "payments" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "payments" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
