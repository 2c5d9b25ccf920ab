-- atlas:delimiter \n\n\n

-- Requests from before are for those who filed them.
UPDATE requests SET requester_id = created_by;


-- The release before does not know requesters.
CREATE TRIGGER requests_requester AFTER INSERT ON requests WHEN NEW.requester_id IS NULL
BEGIN
  UPDATE requests SET requester_id = created_by WHERE id = NEW.id;
END;
