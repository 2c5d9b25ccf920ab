-- Modify "secrets" table
ALTER TABLE "secrets" ADD COLUMN "previous" bytea NULL;
