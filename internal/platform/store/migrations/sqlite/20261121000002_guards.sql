-- atlas:delimiter \n\n\n

-- The audit log only grows.
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'audit entries are append-only'); END;


CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'audit entries are append-only'); END;


-- A tree stays inside its company: Atlas cannot write a composite key from a table to itself.
CREATE TRIGGER organizations_parent_insert BEFORE INSERT ON organizations WHEN NEW.parent_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed')
  WHERE NOT EXISTS (SELECT 1 FROM organizations WHERE id = NEW.parent_id AND company_id = NEW.company_id); END;


CREATE TRIGGER organizations_parent_update BEFORE UPDATE OF parent_id ON organizations WHEN NEW.parent_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed')
  WHERE NOT EXISTS (SELECT 1 FROM organizations WHERE id = NEW.parent_id AND company_id = NEW.company_id); END;


-- Kept counters: requests by status and priority, the same by service, and audit entries, so that an exact total costs no scan. SQLite has
-- one writer, so one shard is enough.
CREATE TRIGGER requests_count_insert AFTER INSERT ON requests
BEGIN INSERT INTO row_counts (company_id, kind, facet, shard, n)
  VALUES (NEW.company_id, 'request', NEW.status || '|' || NEW.priority, 0, 1),
    (NEW.company_id, 'request_service', NEW.service_id || '|' || NEW.status || '|' || NEW.priority, 0, 1)
  ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = n + 1; END;


CREATE TRIGGER requests_count_delete AFTER DELETE ON requests
BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE company_id = OLD.company_id AND kind = 'request' AND facet = OLD.status || '|' || OLD.priority AND shard = 0;
  UPDATE row_counts SET n = n - 1
    WHERE company_id = OLD.company_id AND kind = 'request_service'
    AND facet = OLD.service_id || '|' || OLD.status || '|' || OLD.priority AND shard = 0;
END;


CREATE TRIGGER requests_count_update AFTER UPDATE OF status, priority ON requests
WHEN OLD.status <> NEW.status OR OLD.priority <> NEW.priority
BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE company_id = OLD.company_id AND kind = 'request' AND facet = OLD.status || '|' || OLD.priority AND shard = 0;
  UPDATE row_counts SET n = n - 1
    WHERE company_id = OLD.company_id AND kind = 'request_service'
    AND facet = OLD.service_id || '|' || OLD.status || '|' || OLD.priority AND shard = 0;
  INSERT INTO row_counts (company_id, kind, facet, shard, n)
    VALUES (NEW.company_id, 'request', NEW.status || '|' || NEW.priority, 0, 1),
      (NEW.company_id, 'request_service', NEW.service_id || '|' || NEW.status || '|' || NEW.priority, 0, 1)
    ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = n + 1;
END;


CREATE TRIGGER audit_entries_count_insert AFTER INSERT ON audit_entries
BEGIN INSERT INTO row_counts (company_id, kind, facet, shard, n) VALUES (NEW.company_id, 'audit', '', 0, 1)
  ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = n + 1; END;


-- Whoever caches who may do what looks at this number (see store.Authority).
INSERT INTO settings (id, value) VALUES ('authority', '0');


CREATE TRIGGER api_keys_authority AFTER UPDATE OF revoked_at, expires_at, allowed_ips, name ON api_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER api_keys_authority_delete AFTER DELETE ON api_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER users_authority AFTER UPDATE OF role, status, name, email, attributes ON users
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER users_authority_delete AFTER DELETE ON users
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER service_accounts_authority AFTER UPDATE ON service_accounts
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER companies_authority AFTER UPDATE ON companies
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER oauth_clients_authority AFTER UPDATE ON oauth_clients
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER oauth_clients_authority_delete AFTER DELETE ON oauth_clients
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER signing_keys_authority AFTER INSERT ON signing_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER signing_keys_authority_update AFTER UPDATE ON signing_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
