-- atlas:delimiter \n\n\n

-- The table was made anew, and its trigger went with the old one.
CREATE TRIGGER agents_authority AFTER UPDATE OF status, version ON agents
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
