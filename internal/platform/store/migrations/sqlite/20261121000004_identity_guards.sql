-- atlas:delimiter \n\n\n

-- Who caches callers hears of the end of sessions and grants, and of users who were signed out everywhere.
DROP TRIGGER users_authority;


CREATE TRIGGER users_authority AFTER UPDATE OF role, status, name, email, attributes, signed_out_at ON users
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER sessions_authority AFTER UPDATE OF ended_at, sandbox, token_hash, authenticated_at ON sessions
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER sessions_authority_delete AFTER DELETE ON sessions
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER grants_authority AFTER UPDATE OF revoked_at ON grants
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER team_members_authority AFTER INSERT ON team_members
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;


CREATE TRIGGER team_members_authority_delete AFTER DELETE ON team_members
BEGIN UPDATE settings SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE id = 'authority'; END;
