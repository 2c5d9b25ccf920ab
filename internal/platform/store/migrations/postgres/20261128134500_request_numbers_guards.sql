-- atlas:delimiter \n\n\n

-- The release before goes on inserting rows without a number while nodes are replaced.
CREATE FUNCTION requests_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sequences (company_id, kind, last)
    VALUES (NEW.company_id, 'requests', (SELECT COALESCE(MAX(number), 0) FROM requests WHERE company_id = NEW.company_id) + 1)
    ON CONFLICT (company_id, kind) DO UPDATE SET last = sequences.last + 1 RETURNING last INTO NEW.number;
  RETURN NEW;
END $$;


-- From here to the end of the migration nobody inserts.
CREATE TRIGGER requests_number BEFORE INSERT ON requests FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION requests_number();


-- Rows from before get their numbers in the order in which they were filed.
UPDATE requests SET number = filed.n
  FROM (SELECT id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) AS n FROM requests) AS filed
  WHERE filed.id = requests.id;
