-- Create index "request_company_id_cancelled_at_created_at" to table: "requests"
CREATE INDEX "request_company_id_cancelled_at_created_at" ON "requests" ("company_id", "cancelled_at", "created_at") WHERE (cancelled_at IS NOT NULL);
-- Create index "request_company_id_completed_at_created_at" to table: "requests"
CREATE INDEX "request_company_id_completed_at_created_at" ON "requests" ("company_id", "completed_at", "created_at") WHERE (completed_at IS NOT NULL);
