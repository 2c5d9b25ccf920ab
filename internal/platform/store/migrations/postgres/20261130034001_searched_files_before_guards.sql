-- atlas:delimiter \n\n\n

-- The files that are there already.
UPDATE search_documents SET pending = pending + 1 WHERE row_id IN (
  SELECT coalesce(comment_id, request_id) FROM attachments WHERE status = 'READY' AND deleted_at IS NULL AND request_id IS NOT NULL);
