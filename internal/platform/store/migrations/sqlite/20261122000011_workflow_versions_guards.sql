-- atlas:delimiter \n\n\n

-- Workflows that were published before their versions were kept get the row of the last one. The draft stands for it: what
-- was published is kept nowhere else.
INSERT INTO workflow_versions (id, created_at, updated_at, company_id, workflow_id, version, definition, published_at, published_by)
SELECT 'wfv_' || substr(id, 4), updated_at, updated_at, company_id, id, version, definition, updated_at, 'system'
FROM workflows WHERE version > 0;


-- What was published never changes.
CREATE TRIGGER workflow_versions_no_update BEFORE UPDATE OF version, definition, uses, published_at, published_by
ON workflow_versions
BEGIN SELECT RAISE(ABORT, 'published versions never change'); END;
