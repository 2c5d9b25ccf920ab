-- Those of before: they were accepted, and merged ones were cancelled without a reason.
UPDATE requests SET first_response_at = accepted_at WHERE accepted_at IS NOT NULL;
UPDATE requests SET merged_at = cancelled_at
  WHERE status = 'CANCELLED' AND decline_reason IS NULL AND id IN (SELECT from_id FROM request_links WHERE type = 'duplicates');
