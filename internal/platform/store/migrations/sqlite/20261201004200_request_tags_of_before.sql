-- Those of before.
INSERT INTO request_tags (company_id, request_id, key, value)
  SELECT r.company_id, r.id, t.key, t.value FROM requests AS r, json_each(r.tags) AS t WHERE r.tags <> '{}' AND t.key IS NOT NULL;
