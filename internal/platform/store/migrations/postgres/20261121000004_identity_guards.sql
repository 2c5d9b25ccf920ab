-- atlas:delimiter \n\n\n

-- Row-level security on the tables that came since, as on the others (see …02_guards.sql).
DO $$
DECLARE t record;
BEGIN
  FOR t IN
    SELECT c.relname AS name,
      CASE WHEN EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'company_id' AND NOT a.attisdropped)
             THEN 'company_id' END AS owner
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = current_schema() AND NOT c.relrowsecurity
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


-- Who caches callers hears of the end of sessions and grants, and of users who were signed out everywhere.
DROP TRIGGER users_authority ON users;


CREATE TRIGGER users_authority AFTER UPDATE OF role, status, name, email, attributes, signed_out_at OR DELETE ON users
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER sessions_authority AFTER UPDATE OF ended_at, sandbox, token_hash, authenticated_at OR DELETE ON sessions
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER grants_authority AFTER UPDATE OF revoked_at ON grants
FOR EACH ROW EXECUTE FUNCTION announce_authority();


CREATE TRIGGER team_members_authority AFTER INSERT OR DELETE ON team_members
FOR EACH ROW EXECUTE FUNCTION announce_authority();
