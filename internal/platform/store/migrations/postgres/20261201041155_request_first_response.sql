-- Modify "requests" table
ALTER TABLE "requests" ADD COLUMN "first_response_at" timestamptz NULL, ADD COLUMN "merged_at" timestamptz NULL;
