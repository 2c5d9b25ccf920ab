-- atlas:delimiter \n\n\n

-- The release before goes on inserting rows without a requester while nodes are replaced.
CREATE FUNCTION requests_requester() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.requester_id := NEW.created_by;
  RETURN NEW;
END $$;


-- From here to the end of the migration nobody inserts.
CREATE TRIGGER requests_requester BEFORE INSERT ON requests FOR EACH ROW WHEN (NEW.requester_id IS NULL) EXECUTE FUNCTION requests_requester();


-- Requests from before are for those who filed them.
UPDATE requests SET requester_id = created_by;
