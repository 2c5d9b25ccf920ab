-- atlas:delimiter \n\n\n

-- A request's tags, each a row.
CREATE FUNCTION requests_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM request_tags WHERE company_id = OLD.company_id AND request_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO request_tags (company_id, request_id, key, value)
    SELECT NEW.company_id, NEW.id, t.key, t.value FROM jsonb_each_text(coalesce(nullif(NEW.tags, 'null'), '{}')) AS t
    ON CONFLICT (company_id, key, value, request_id) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_tags_insert AFTER INSERT ON requests
FOR EACH ROW WHEN (NEW.tags <> '{}') EXECUTE FUNCTION requests_tags();


CREATE TRIGGER requests_tags_update AFTER UPDATE OF tags ON requests
FOR EACH ROW WHEN (OLD.tags IS DISTINCT FROM NEW.tags) EXECUTE FUNCTION requests_tags();


CREATE TRIGGER requests_tags_delete AFTER DELETE ON requests
FOR EACH ROW WHEN (OLD.tags <> '{}') EXECUTE FUNCTION requests_tags();
