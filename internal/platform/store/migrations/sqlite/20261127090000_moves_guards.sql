-- atlas:delimiter \n\n\n

-- A request that moves to another service is counted there. Its status and priority stay, so the trigger on these does not run.
CREATE TRIGGER requests_count_move AFTER UPDATE OF service_id ON requests
WHEN OLD.service_id <> NEW.service_id AND OLD.status = NEW.status AND OLD.priority = NEW.priority
BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE company_id = OLD.company_id AND kind = 'request_service'
    AND facet = OLD.service_id || '|' || OLD.status || '|' || OLD.priority AND shard = 0;
  INSERT INTO row_counts (company_id, kind, facet, shard, n)
    VALUES (NEW.company_id, 'request_service', NEW.service_id || '|' || NEW.status || '|' || NEW.priority, 0, 1)
    ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = n + 1;
END;


-- What earlier moves have left wrong.
INSERT INTO row_counts (company_id, kind, facet, shard, n)
  SELECT company_id, 'request_service', facet, 0, sum(n) FROM (
    SELECT company_id, service_id || '|' || status || '|' || priority AS facet, count(*) AS n FROM requests GROUP BY 1, 2
    UNION ALL
    SELECT company_id, facet, -sum(n) FROM row_counts WHERE kind = 'request_service' GROUP BY 1, 2)
  GROUP BY 1, 3 HAVING sum(n) <> 0
  ON CONFLICT (company_id, kind, facet, shard) DO UPDATE SET n = n + excluded.n;


-- Whether a company has agents for phases is remembered as long as nothing changes who may do what.
CREATE TRIGGER agents_authority_insert AFTER INSERT ON agents
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


-- The table was made anew, and its trigger went with the old one.
CREATE TRIGGER service_accounts_authority AFTER UPDATE ON service_accounts
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER service_accounts_authority_delete AFTER DELETE ON service_accounts
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
