-- atlas:delimiter \n\n\n

-- Every company starts with one policy, under which scopes and roles alone decide; those that exist get it now.
INSERT INTO access_policies (id, created_at, updated_at, company_id, name, description, enabled, effect, action, resource, condition, version, created_by)
SELECT 'pol_' || substr(id, 4), created_at, created_at, id, 'Allow everything', 'Scopes and roles decide, as long as no other policy denies.', true, 'Allow', '*', '*', '{}', 1, 'system'
FROM companies;


-- Row-level security, as on the other tables (see …02_guards.sql).
ALTER TABLE access_policies ENABLE ROW LEVEL SECURITY;


ALTER TABLE access_policies FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON access_policies USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


ALTER TABLE access_policy_versions ENABLE ROW LEVEL SECURITY;


ALTER TABLE access_policy_versions FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON access_policy_versions USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


ALTER TABLE access_decisions ENABLE ROW LEVEL SECURITY;


ALTER TABLE access_decisions FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON access_decisions USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');


-- Who caches policies hears of their changes (see store.Authority).
CREATE TRIGGER access_policies_authority AFTER INSERT OR UPDATE OR DELETE ON access_policies
FOR EACH ROW EXECUTE FUNCTION announce_authority();
