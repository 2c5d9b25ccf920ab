-- Create index "request_company_id_service_id_status_created_at_id" to table: "requests"
CREATE INDEX "request_company_id_service_id_status_created_at_id" ON "requests" ("company_id", "service_id", "status", "created_at", "id");
