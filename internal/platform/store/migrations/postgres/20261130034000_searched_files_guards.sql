-- atlas:delimiter \n\n\n

-- The names of files belong to the text of their request, or of their comment. A new name waits for the indexer; for one that goes, the
-- document is emptied at once, as it is for other words.
CREATE FUNCTION search_file_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE search_documents SET pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = coalesce(NEW.comment_id, NEW.request_id);
  RETURN NULL;
END $$;


CREATE FUNCTION search_file_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = OLD.company_id
    AND row_id IN (coalesce(OLD.comment_id, OLD.request_id), coalesce(NEW.comment_id, NEW.request_id));
  RETURN NULL;
END $$;


CREATE FUNCTION search_file_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = OLD.company_id AND row_id = coalesce(OLD.comment_id, OLD.request_id);
  RETURN NULL;
END $$;


CREATE TRIGGER attachments_search_insert AFTER INSERT ON attachments FOR EACH ROW
WHEN (NEW.request_id IS NOT NULL) EXECUTE FUNCTION search_file_came();


CREATE TRIGGER attachments_search_update AFTER UPDATE OF name, status, request_id, comment_id, deleted_at ON attachments FOR EACH ROW
WHEN (OLD.name <> NEW.name OR OLD.status <> NEW.status OR OLD.request_id IS DISTINCT FROM NEW.request_id
  OR OLD.comment_id IS DISTINCT FROM NEW.comment_id OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)) EXECUTE FUNCTION search_file_changed();


CREATE TRIGGER attachments_search_delete AFTER DELETE ON attachments FOR EACH ROW
WHEN (OLD.request_id IS NOT NULL) EXECUTE FUNCTION search_file_gone();
