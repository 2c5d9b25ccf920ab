-- atlas:delimiter \n\n\n

-- What was there before gets its documents now, and its tokens from the first node that runs. Nobody waits for this file: the triggers serve
-- what is written meanwhile.
INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending)
SELECT company_id, 'service', id, '', 0, 1 FROM services
UNION ALL SELECT company_id, 'offering', id, '', 0, 1 FROM offerings
UNION ALL SELECT company_id, 'user', id, '', 0, 1 FROM users
ON CONFLICT (company_id, row_id) DO NOTHING;


INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending)
SELECT company_id, 'request', id, id, '', 0, 1 FROM requests ORDER BY created_at, id
ON CONFLICT (company_id, row_id) DO NOTHING;


INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending)
SELECT company_id, 'comment', id, request_id, '', 0, 1 FROM comments ORDER BY created_at, id
ON CONFLICT (company_id, row_id) DO NOTHING;
