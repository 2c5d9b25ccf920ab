-- Modify "credit_entries" table
ALTER TABLE "credit_entries" ADD COLUMN "number" bigint NOT NULL DEFAULT 0, ADD COLUMN "balance" bigint NOT NULL DEFAULT 0, ADD COLUMN "drawn_from" bigint NULL;
-- Number the entries that there are, and say what was left after each
UPDATE "credit_entries" e SET "number" = n.number, "balance" = n.balance FROM (SELECT id, row_number() OVER entries AS number, sum(amount) OVER entries AS balance FROM "credit_entries" WINDOW entries AS (PARTITION BY company_id ORDER BY created_at, id)) n WHERE n.id = e.id;
-- Drop index "creditentry_company_id_created_at_id": the history goes by number
DROP INDEX "creditentry_company_id_created_at_id";
-- Create index "creditentry_company_id_number" to table: "credit_entries"
CREATE UNIQUE INDEX "creditentry_company_id_number" ON "credit_entries" ("company_id", "number");
-- Create "billing_accounts" table
CREATE TABLE "billing_accounts" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "anchor_at" timestamptz NULL, "period_start_at" timestamptz NULL, "period_end_at" timestamptz NULL, "forfeit_at" timestamptz NULL, "due_at" timestamptz NULL, "balance" bigint NOT NULL DEFAULT 0, "entries" bigint NOT NULL DEFAULT 0, "drawn_entry" bigint NOT NULL DEFAULT 0, "drawn_amount" bigint NOT NULL DEFAULT 0, "invoices" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"), CONSTRAINT "billing_accounts_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "billingaccount_company_id" to table: "billing_accounts"
CREATE INDEX "billingaccount_company_id" ON "billing_accounts" ("company_id");
-- Create index "billingaccount_due_at" to table: "billing_accounts"
CREATE INDEX "billingaccount_due_at" ON "billing_accounts" ("due_at");
-- Create "invoices" table
CREATE TABLE "invoices" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "number" bigint NOT NULL, "status" character varying NOT NULL, "period_start" timestamptz NOT NULL, "period_end" timestamptz NOT NULL, "lines" jsonb NOT NULL, "subtotal" bigint NOT NULL, "credits_applied" bigint NOT NULL, "amount_due" bigint NOT NULL, "currency" character varying NOT NULL, "paid_at" timestamptz NULL, PRIMARY KEY ("id"), CONSTRAINT "invoices_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "invoice_company_id_created_at_id" to table: "invoices"
CREATE INDEX "invoice_company_id_created_at_id" ON "invoices" ("company_id", "created_at", "id");
-- Create index "invoice_company_id_number" to table: "invoices"
CREATE UNIQUE INDEX "invoice_company_id_number" ON "invoices" ("company_id", "number");
-- Create "journal_lines" table
CREATE TABLE "journal_lines" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "source" character varying NOT NULL, "account" character varying NOT NULL, "amount" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "journal_lines_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "journalline_company_id_source" to table: "journal_lines"
CREATE INDEX "journalline_company_id_source" ON "journal_lines" ("company_id", "source");
-- Put "billing_accounts" under row-level security
ALTER TABLE "billing_accounts" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "billing_accounts" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "billing_accounts" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "invoices" under row-level security
ALTER TABLE "invoices" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "invoices" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "invoices" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
-- Put "journal_lines" under row-level security
ALTER TABLE "journal_lines" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "journal_lines" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "journal_lines" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
