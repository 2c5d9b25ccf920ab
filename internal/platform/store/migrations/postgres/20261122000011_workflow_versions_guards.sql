-- atlas:delimiter \n\n\n

-- Workflows that were published before their versions were kept get the row of the last one. The draft stands for it: what
-- was published is kept nowhere else.
INSERT INTO workflow_versions (id, created_at, updated_at, company_id, workflow_id, version, definition, published_at, published_by)
SELECT 'wfv_' || substr(id, 4), updated_at, updated_at, company_id, id, version, definition, updated_at, 'system'
FROM workflows WHERE version > 0;


-- What was published never changes.
CREATE TRIGGER workflow_versions_no_update BEFORE UPDATE OF version, definition, uses, published_at, published_by
ON workflow_versions
FOR EACH ROW EXECUTE FUNCTION refuse_change();


-- Row-level security, as on the other tables (see …02_guards.sql).
ALTER TABLE workflow_versions ENABLE ROW LEVEL SECURITY;


ALTER TABLE workflow_versions FORCE ROW LEVEL SECURITY;


CREATE POLICY tenant ON workflow_versions USING (company_id = (SELECT current_setting('app.company_id', true)) OR (SELECT current_setting('app.company_id', true)) = '*');
