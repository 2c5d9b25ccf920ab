-- atlas:delimiter \n\n\n

-- The names of files belong to the text of their request, or of their comment. A new name waits for the indexer; for one that goes, the
-- document is emptied at once, as it is for other words.
CREATE TRIGGER attachments_search_insert AFTER INSERT ON attachments WHEN NEW.request_id IS NOT NULL
BEGIN
  UPDATE search_documents SET pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = coalesce(NEW.comment_id, NEW.request_id);
END;


CREATE TRIGGER attachments_search_update AFTER UPDATE OF name, status, request_id, comment_id, deleted_at ON attachments
WHEN OLD.name IS NOT NEW.name OR OLD.status IS NOT NEW.status OR OLD.request_id IS NOT NEW.request_id
  OR OLD.comment_id IS NOT NEW.comment_id OR (OLD.deleted_at IS NULL) IS NOT (NEW.deleted_at IS NULL)
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id
    AND row_id IN (coalesce(OLD.comment_id, OLD.request_id), coalesce(NEW.comment_id, NEW.request_id));
END;


CREATE TRIGGER attachments_search_delete AFTER DELETE ON attachments WHEN OLD.request_id IS NOT NULL
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = OLD.company_id AND row_id = coalesce(OLD.comment_id, OLD.request_id);
END;


-- The files that are there already.
UPDATE search_documents SET pending = pending + 1 WHERE row_id IN (
  SELECT coalesce(comment_id, request_id) FROM attachments WHERE status = 'READY' AND deleted_at IS NULL AND request_id IS NOT NULL);
