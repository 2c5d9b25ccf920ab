-- atlas:delimiter \n\n\n

-- Levels of autonomy were any text; what is none of them begins with the most careful.
UPDATE agents SET autonomy = 'SUGGEST' WHERE autonomy NOT IN ('SUGGEST', 'ACT_WITH_APPROVAL', 'AUTONOMOUS');


-- Whether a company has agents at work is remembered as long as nothing changes who may do what.
CREATE TRIGGER agents_authority AFTER UPDATE OF status, version ON agents
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


-- What was published never changes.
CREATE TRIGGER agent_versions_no_update BEFORE UPDATE OF version, settings, published_at, published_by ON agent_versions
BEGIN SELECT RAISE(ABORT, 'agent_versions never change'); END;
