-- atlas:delimiter \n\n\n

-- Rows from before get their numbers in the order in which they were filed.
UPDATE requests SET number = filed.n
  FROM (SELECT id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) AS n FROM requests) AS filed
  WHERE filed.id = requests.id;


-- The release before does not know numbers.
CREATE TRIGGER requests_number AFTER INSERT ON requests WHEN NEW.number IS NULL
BEGIN
  INSERT INTO sequences (company_id, kind, last)
    VALUES (NEW.company_id, 'requests', (SELECT COALESCE(MAX(number), 0) FROM requests WHERE company_id = NEW.company_id) + 1)
    ON CONFLICT (company_id, kind) DO UPDATE SET last = last + 1;
  UPDATE requests SET number = (SELECT last FROM sequences WHERE company_id = NEW.company_id AND kind = 'requests') WHERE id = NEW.id;
END;
