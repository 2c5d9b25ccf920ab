-- atlas:delimiter \n\n\n

-- Events are numbered where they are written. The counter's kind is the subject's id.
CREATE TRIGGER events_sequence AFTER INSERT ON events WHEN NEW.sequence IS NULL
BEGIN
  INSERT INTO sequences (company_id, kind, last) VALUES (NEW.company_id, NEW.subject_id, 1)
    ON CONFLICT (company_id, kind) DO UPDATE SET last = last + 1;
  UPDATE events SET sequence = (SELECT last FROM sequences WHERE company_id = NEW.company_id AND kind = NEW.subject_id) WHERE id = NEW.id;
END;
