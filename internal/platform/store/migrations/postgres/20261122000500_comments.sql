-- Create "comments" table
CREATE TABLE "comments" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "company_id" character varying NOT NULL, "author_id" character varying NOT NULL, "body" character varying NOT NULL, "visibility" character varying NOT NULL DEFAULT 'public', "request_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "comments_company_owner" FOREIGN KEY ("company_id") REFERENCES "companies" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, CONSTRAINT "comments_requests_request" FOREIGN KEY ("company_id", "request_id") REFERENCES "requests" ("company_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION);
-- Create index "comment_company_id_request_id_created_at_id" to table: "comments"
CREATE INDEX "comment_company_id_request_id_created_at_id" ON "comments" ("company_id", "request_id", "created_at", "id");
-- Put "comments" under row-level security
ALTER TABLE "comments" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "comments" FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON "comments" USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
