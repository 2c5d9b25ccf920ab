-- atlas:delimiter \n\n\n

-- Row-level security, as on the other tables (see …02_guards.sql).
ALTER TABLE webhook_subscriptions ENABLE ROW LEVEL SECURITY;


ALTER TABLE webhook_subscriptions FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON webhook_subscriptions USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;


ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON webhook_deliveries USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
