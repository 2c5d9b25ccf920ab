-- atlas:delimiter \n\n\n

-- The tables were made anew, and their triggers went with the old ones.
CREATE TRIGGER agents_authority AFTER UPDATE OF status, version ON agents
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER api_keys_authority AFTER UPDATE OF revoked_at, expires_at, allowed_ips, name ON api_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER api_keys_authority_delete AFTER DELETE ON api_keys
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
