-- Those of before. Their requests are held, so that a change of tags comes before this, or after it by the trigger.
INSERT INTO request_tags (company_id, request_id, key, value)
SELECT r.company_id, r.id, t.key, t.value
FROM (SELECT company_id, id, tags FROM requests WHERE tags <> '{}' AND tags <> 'null' FOR SHARE) AS r, jsonb_each_text(r.tags) AS t
ON CONFLICT (company_id, key, value, request_id) DO NOTHING;
