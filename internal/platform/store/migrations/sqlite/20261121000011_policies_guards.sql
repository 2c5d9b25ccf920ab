-- atlas:delimiter \n\n\n

-- Every company starts with one policy, under which scopes and roles alone decide; those that exist get it now.
INSERT INTO access_policies (id, created_at, updated_at, company_id, name, description, enabled, effect, action, resource, condition, version, created_by)
SELECT 'pol_' || substr(id, 4), created_at, created_at, id, 'Allow everything', 'Scopes and roles decide, as long as no other policy denies.', true, 'Allow', '*', '*', '{}', 1, 'system'
FROM companies;


-- Who caches policies hears of their changes (see store.Authority).
CREATE TRIGGER access_policies_authority_insert AFTER INSERT ON access_policies
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER access_policies_authority_update AFTER UPDATE ON access_policies
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER access_policies_authority_delete AFTER DELETE ON access_policies
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
