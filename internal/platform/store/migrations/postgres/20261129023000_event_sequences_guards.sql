-- atlas:delimiter \n\n\n

-- Events are numbered where they are written, so that it costs no round trip, and the release before numbers them, too, while nodes are
-- replaced. The counter's row stays locked until the commit: events of one subject commit in the order of their numbers. Its kind is the
-- subject's id.
CREATE FUNCTION events_sequence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sequences (company_id, kind, last) VALUES (NEW.company_id, NEW.subject_id, 1)
    ON CONFLICT (company_id, kind) DO UPDATE SET last = sequences.last + 1 RETURNING last INTO NEW.sequence;
  RETURN NEW;
END $$;


CREATE TRIGGER events_sequence BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.sequence IS NULL) EXECUTE FUNCTION events_sequence();
