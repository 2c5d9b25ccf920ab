-- atlas:delimiter \n\n\n

-- Who remembers routing rules hears of their changes (see store.Authority); whose turn it was is none.
CREATE TRIGGER routing_rules_authority AFTER INSERT OR DELETE OR UPDATE OF updated_at ON routing_rules
FOR EACH ROW EXECUTE FUNCTION announce_authority();
