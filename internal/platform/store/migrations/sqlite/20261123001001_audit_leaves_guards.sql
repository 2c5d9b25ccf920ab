-- atlas:delimiter \n\n\n

-- An audit entry changes in two ways only. One from before there were leaves gets its leaf once; and what is personal may be
-- erased, each of its two parts with the salt that its commitment was made with, which the commitment takes the place of.
DROP TRIGGER audit_entries_no_update;


CREATE TRIGGER audit_entries_guard BEFORE UPDATE ON audit_entries
WHEN NOT (
  NEW.id IS OLD.id AND NEW.created_at IS OLD.created_at AND NEW.company_id IS OLD.company_id AND NEW.actor_type IS OLD.actor_type
  AND NEW.actor_id IS OLD.actor_id AND NEW.action IS OLD.action AND NEW.resource_type IS OLD.resource_type
  AND NEW.resource_id IS OLD.resource_id AND NEW.outcome IS OLD.outcome AND NEW.request_id IS OLD.request_id
  AND (
    OLD.leaf_hash IS NULL AND OLD.actor_seal IS NULL AND OLD.changes_seal IS NULL
    AND length(NEW.leaf_hash) IS 32 AND length(NEW.actor_seal) IS 16 AND length(NEW.changes_seal) IS 16
    AND NEW.actor_name IS OLD.actor_name AND NEW.ip IS OLD.ip AND NEW.user_agent IS OLD.user_agent AND NEW.changes IS OLD.changes
  OR
    NEW.leaf_hash IS OLD.leaf_hash AND NOT (NEW.actor_seal IS OLD.actor_seal AND NEW.changes_seal IS OLD.changes_seal)
    AND (
      NEW.actor_seal IS OLD.actor_seal AND NEW.actor_name IS OLD.actor_name AND NEW.ip IS OLD.ip AND NEW.user_agent IS OLD.user_agent
      OR length(OLD.actor_seal) IS 16 AND coalesce(length(NEW.actor_seal), 0) > 32 AND NEW.actor_name IS '' AND NEW.ip IS '' AND NEW.user_agent IS ''
    ) AND (
      NEW.changes_seal IS OLD.changes_seal AND NEW.changes IS OLD.changes
      OR length(OLD.changes_seal) IS 16 AND coalesce(length(NEW.changes_seal), 0) > 32 AND NEW.changes IS NULL
    )
  )
)
BEGIN SELECT RAISE(ABORT, 'audit entries are append-only'); END;


CREATE TRIGGER audit_leaves_no_update BEFORE UPDATE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit leaves are append-only'); END;


CREATE TRIGGER audit_leaves_no_delete BEFORE DELETE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit leaves are append-only'); END;
