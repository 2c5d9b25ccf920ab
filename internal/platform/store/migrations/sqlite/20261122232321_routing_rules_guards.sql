-- atlas:delimiter \n\n\n

-- Who remembers routing rules hears of their changes (see store.Authority); whose turn it was is none.
CREATE TRIGGER routing_rules_authority_insert AFTER INSERT ON routing_rules
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER routing_rules_authority_update AFTER UPDATE OF updated_at ON routing_rules
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER routing_rules_authority_delete AFTER DELETE ON routing_rules
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
