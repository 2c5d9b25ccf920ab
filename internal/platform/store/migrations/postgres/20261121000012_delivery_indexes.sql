-- Create index "webhookdelivery_company_id_subscription_id_outcome" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_company_id_subscription_id_outcome" ON "webhook_deliveries" ("company_id", "subscription_id", "outcome", "created_at", "id");
-- Create index "webhookdelivery_updated_at_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_updated_at_id" ON "webhook_deliveries" ("updated_at", "id");
-- Drop index "webhookdelivery_created_at" from table: "webhook_deliveries": the sweep goes by updated_at
DROP INDEX "webhookdelivery_created_at";
