-- atlas:delimiter \n\n\n

-- The history of deliveries becomes a table in partitions, a week each, that are dropped whole (internal/webhook,
-- partition.go). They go by the id, which begins with the moment it was made at: it is the primary key as it was, a
-- delivery that is looked up by it is looked up in one partition, and unlike created_at no development clock moves it.
--
-- What is there already stays where it is, as the partition of all that came before a Monday within the next two weeks.
ALTER TABLE webhook_deliveries RENAME TO webhook_deliveries_first;


ALTER INDEX webhook_deliveries_pkey RENAME TO webhook_deliveries_first_pkey;


DO $$
DECLARE old record;
BEGIN
  FOR old IN SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = 'webhook_deliveries_first'::regclass AND NOT i.indisprimary LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO %I', old.relname, 'first_' || left(old.relname, 57));
  END LOOP;
END $$;


CREATE TABLE webhook_deliveries (LIKE webhook_deliveries_first INCLUDING DEFAULTS) PARTITION BY RANGE (id);


ALTER TABLE webhook_deliveries
  ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  ADD CONSTRAINT webhook_deliveries_company_owner FOREIGN KEY (company_id) REFERENCES companies (id),
  ADD CONSTRAINT webhook_deliveries_events_source FOREIGN KEY (company_id, event_id) REFERENCES events (company_id, id) ON DELETE CASCADE,
  ADD CONSTRAINT webhook_deliveries_webhook_subscriptions_subscription FOREIGN KEY (company_id, subscription_id) REFERENCES webhook_subscriptions (company_id, id) ON DELETE CASCADE;


CREATE INDEX webhookdelivery_company_id_created_at_id ON webhook_deliveries (company_id, created_at, id);


CREATE INDEX webhookdelivery_company_id_subscription_id_created_at_id ON webhook_deliveries (company_id, subscription_id, created_at, id);


CREATE INDEX webhookdelivery_company_id_outcome_created_at_id ON webhook_deliveries (company_id, outcome, created_at, id);


CREATE INDEX webhookdelivery_company_id_subscription_id_outcome ON webhook_deliveries (company_id, subscription_id, outcome, created_at, id);


CREATE INDEX webhookdelivery_company_id_event_id ON webhook_deliveries (company_id, event_id);


CREATE INDEX webhookdelivery_updated_at_id ON webhook_deliveries (updated_at, id);


-- The net: what belongs into no week. Nothing, as long as the weeks are made ahead.
CREATE TABLE webhook_deliveries_default (LIKE webhook_deliveries INCLUDING ALL);


-- Row-level security, as on the other tables (see …02_guards.sql): a query of the table goes by the table's policy, one
-- of a partition by the partition's.
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;


ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON webhook_deliveries USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


ALTER TABLE webhook_deliveries_default ENABLE ROW LEVEL SECURITY;


ALTER TABLE webhook_deliveries_default FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON webhook_deliveries_default USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


ALTER TABLE webhook_deliveries ATTACH PARTITION webhook_deliveries_default DEFAULT;


-- The bound is what an id made on that Monday begins with: milliseconds since 1970 in ten digits of Crockford's base32.
-- A row beyond it, of a machine whose clock was ahead, goes into the net.
DO $$
DECLARE
  ms bigint := extract(epoch FROM date_trunc('week', now() AT TIME ZONE 'UTC') + interval '2 weeks') * 1000;
  bound text := 'whd_';
BEGIN
  FOR digit IN 0..9 LOOP
    bound := bound || substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((ms >> (45 - 5 * digit)) & 31)::int, 1);
  END LOOP;
  bound := bound || repeat('0', 16);
  WITH beyond AS (DELETE FROM webhook_deliveries_first WHERE id >= bound RETURNING *)
  INSERT INTO webhook_deliveries_default SELECT * FROM beyond;
  EXECUTE format('ALTER TABLE webhook_deliveries ATTACH PARTITION webhook_deliveries_first FOR VALUES FROM (MINVALUE) TO (%L)', bound);
END $$;
