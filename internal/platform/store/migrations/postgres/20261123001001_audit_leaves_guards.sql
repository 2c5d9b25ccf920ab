-- atlas:delimiter \n\n\n

-- An audit entry changes in two ways only. One from before there were leaves gets its leaf once; and what is personal may be
-- erased, each of its two parts with the salt that its commitment was made with, which the commitment takes the place of.
CREATE FUNCTION audit_entries_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  actor_erased boolean := octet_length(OLD.actor_seal) = 16 AND octet_length(NEW.actor_seal) > 32
    AND NEW.actor_name = '' AND NEW.ip = '' AND NEW.user_agent = '';
  actor_same boolean := NEW.actor_name = OLD.actor_name AND NEW.ip = OLD.ip AND NEW.user_agent = OLD.user_agent;
  changes_erased boolean := octet_length(OLD.changes_seal) = 16 AND octet_length(NEW.changes_seal) > 32 AND NEW.changes IS NULL;
  changes_same boolean := NEW.changes::text IS NOT DISTINCT FROM OLD.changes::text;
  sealed boolean := OLD.leaf_hash IS NULL AND OLD.actor_seal IS NULL AND OLD.changes_seal IS NULL
    AND octet_length(NEW.leaf_hash) = 32 AND octet_length(NEW.actor_seal) = 16 AND octet_length(NEW.changes_seal) = 16;
  public_same boolean := (NEW.id, NEW.created_at, NEW.company_id, NEW.actor_type, NEW.actor_id, NEW.action, NEW.resource_type, NEW.outcome, NEW.request_id)
    = (OLD.id, OLD.created_at, OLD.company_id, OLD.actor_type, OLD.actor_id, OLD.action, OLD.resource_type, OLD.outcome, OLD.request_id)
    AND NEW.resource_id IS NOT DISTINCT FROM OLD.resource_id;
BEGIN
  IF public_same AND sealed AND actor_same AND changes_same THEN
    RETURN NEW;
  END IF;
  IF public_same AND NEW.leaf_hash IS NOT DISTINCT FROM OLD.leaf_hash AND (actor_erased IS TRUE OR changes_erased IS TRUE)
    AND (actor_erased IS TRUE OR actor_same AND NEW.actor_seal IS NOT DISTINCT FROM OLD.actor_seal)
    AND (changes_erased IS TRUE OR changes_same AND NEW.changes_seal IS NOT DISTINCT FROM OLD.changes_seal) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'audit_entries is append-only';
END $$;


DROP TRIGGER audit_entries_append_only ON audit_entries;


CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER audit_entries_guard BEFORE UPDATE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_entries_guard();


CREATE TRIGGER audit_leaves_append_only BEFORE UPDATE OR DELETE ON audit_leaves
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER audit_leaves_no_truncate BEFORE TRUNCATE ON audit_leaves
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
