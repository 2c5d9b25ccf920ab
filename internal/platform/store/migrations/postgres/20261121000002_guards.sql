-- atlas:delimiter \n\n\n

-- Row-level security on every table: tenant-owned rows belong to app.company_id, which each transaction sets;
-- 'every company' is '*', which only the system principal gets. Unset means no rows.
DO $$
DECLARE t record;
BEGIN
  FOR t IN
    SELECT c.relname AS name,
      CASE WHEN c.relname = 'companies' THEN 'id'
           WHEN EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'company_id' AND NOT a.attisdropped)
             THEN 'company_id' END AS owner
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = current_schema()
      AND c.relname NOT IN ('schema_migrations') AND c.relname NOT LIKE 'river\_%'
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t.name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t.name);
    IF t.owner IS NULL THEN
      EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT current_setting(''app.company_id'', true)) = ''*'')', t.name);
    ELSE
      EXECUTE format('CREATE POLICY tenant ON %I USING (%I = (SELECT current_setting(''app.company_id'', true)) OR (SELECT current_setting(''app.company_id'', true)) = ''*'')', t.name, t.owner);
    END IF;
  END LOOP;
END $$;


-- The audit log only grows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;


CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();


-- A tree stays inside its company: Atlas cannot write a composite key from a table to itself.
CREATE FUNCTION organizations_parent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.parent_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM organizations WHERE id = NEW.parent_id AND company_id = NEW.company_id) THEN
    RAISE EXCEPTION 'the parent is no organization of the company' USING ERRCODE = 'foreign_key_violation', TABLE = 'organizations';
  END IF;
  RETURN NEW;
END $$;


CREATE TRIGGER organizations_parent BEFORE INSERT OR UPDATE OF parent_id ON organizations
FOR EACH ROW EXECUTE FUNCTION organizations_parent();


-- Kept counters: requests by status and priority, the same by service, and audit entries, so that an exact total costs no scan. Sixteen
-- shards, chosen by the connection, keep one company's inserts from queueing behind one row.
CREATE FUNCTION count_rows(company text, k text, f text, delta bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO row_counts (company_id, kind, facet, shard, n) VALUES (company, k, f, pg_backend_pid() % 16, delta)
  ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = row_counts.n + excluded.n
$$;


-- Per statement, so that a bulk insert touches a counter once; in one order, so that two of them never deadlock.
CREATE FUNCTION requests_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_rows(company_id, 'request', facet, n) FROM (
    SELECT company_id, status || '|' || priority AS facet, count(*) AS n FROM added GROUP BY 1, 2 ORDER BY 1, 2) AS sums;
  PERFORM count_rows(company_id, 'request_service', facet, n) FROM (
    SELECT company_id, service_id || '|' || status || '|' || priority AS facet, count(*) AS n FROM added GROUP BY 1, 2 ORDER BY 1, 2) AS sums;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_count_insert AFTER INSERT ON requests
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION requests_count_insert();


CREATE FUNCTION requests_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_rows(company_id, 'request', facet, -n) FROM (
    SELECT company_id, status || '|' || priority AS facet, count(*) AS n FROM gone GROUP BY 1, 2 ORDER BY 1, 2) AS sums;
  PERFORM count_rows(company_id, 'request_service', facet, -n) FROM (
    SELECT company_id, service_id || '|' || status || '|' || priority AS facet, count(*) AS n FROM gone GROUP BY 1, 2 ORDER BY 1, 2) AS sums;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_count_delete AFTER DELETE ON requests
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION requests_count_delete();


CREATE FUNCTION requests_count_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text := OLD.status || '|' || OLD.priority;
  is_now text := NEW.status || '|' || NEW.priority;
BEGIN
  IF was < is_now THEN
    PERFORM count_rows(OLD.company_id, 'request', was, -1);
    PERFORM count_rows(NEW.company_id, 'request', is_now, 1);
    PERFORM count_rows(OLD.company_id, 'request_service', OLD.service_id || '|' || was, -1);
    PERFORM count_rows(NEW.company_id, 'request_service', NEW.service_id || '|' || is_now, 1);
  ELSE
    PERFORM count_rows(NEW.company_id, 'request', is_now, 1);
    PERFORM count_rows(OLD.company_id, 'request', was, -1);
    PERFORM count_rows(NEW.company_id, 'request_service', NEW.service_id || '|' || is_now, 1);
    PERFORM count_rows(OLD.company_id, 'request_service', OLD.service_id || '|' || was, -1);
  END IF;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_count_update AFTER UPDATE OF status, priority ON requests
FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.priority <> NEW.priority) EXECUTE FUNCTION requests_count_update();


CREATE FUNCTION audit_entries_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_rows(company_id, 'audit', '', n) FROM (
    SELECT company_id, count(*) AS n FROM added GROUP BY 1 ORDER BY 1) AS sums;
  RETURN NULL;
END $$;


CREATE TRIGGER audit_entries_count AFTER INSERT ON audit_entries
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_count();


-- Whoever caches who may do what listens on this channel (see store.Authority).
CREATE FUNCTION announce_authority() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('atrium_authority', TG_TABLE_NAME);
  RETURN NULL;
END $$;


CREATE TRIGGER api_keys_authority AFTER UPDATE OF revoked_at, expires_at, allowed_ips, name OR DELETE ON api_keys
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER users_authority AFTER UPDATE OF role, status, name, email, attributes OR DELETE ON users
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER service_accounts_authority AFTER UPDATE OR DELETE ON service_accounts
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER companies_authority AFTER UPDATE OR DELETE ON companies
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER oauth_clients_authority AFTER UPDATE OR DELETE ON oauth_clients
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER signing_keys_authority AFTER INSERT OR UPDATE OR DELETE ON signing_keys
FOR EACH ROW EXECUTE FUNCTION announce_authority();


-- Counters are updated in place all the time: room on their pages keeps the versions of a row together.
ALTER TABLE row_counts SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
