-- Modify "phase_visits" table
ALTER TABLE "phase_visits" ADD COLUMN "branch" character varying NULL;
