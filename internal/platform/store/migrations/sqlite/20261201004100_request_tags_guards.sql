-- atlas:delimiter \n\n\n

-- A request's tags, each a row.
CREATE TRIGGER requests_tags_insert AFTER INSERT ON requests WHEN NEW.tags <> '{}'
BEGIN
  INSERT INTO request_tags (company_id, request_id, key, value)
    SELECT NEW.company_id, NEW.id, t.key, t.value FROM json_each(NEW.tags) AS t WHERE t.key IS NOT NULL;
END;


CREATE TRIGGER requests_tags_update AFTER UPDATE OF tags ON requests WHEN OLD.tags IS NOT NEW.tags
BEGIN
  DELETE FROM request_tags WHERE company_id = OLD.company_id AND request_id = OLD.id;
  INSERT INTO request_tags (company_id, request_id, key, value)
    SELECT NEW.company_id, NEW.id, t.key, t.value FROM json_each(NEW.tags) AS t WHERE t.key IS NOT NULL;
END;


CREATE TRIGGER requests_tags_delete AFTER DELETE ON requests WHEN OLD.tags <> '{}'
BEGIN
  DELETE FROM request_tags WHERE company_id = OLD.company_id AND request_id = OLD.id;
END;
