-- atlas:delimiter \n\n\n

-- The index of the tokens of search_documents, whose n is its rowid. It holds the tokens alone, each behind the id of its company, so that a
-- search reads what one company has. Whoever takes a document out says which tokens it had, and they leave the file.
CREATE VIRTUAL TABLE search_words USING fts5(tokens, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '-_='");


INSERT INTO search_words (search_words, rank) VALUES ('secure-delete', 1);


CREATE TRIGGER search_documents_insert AFTER INSERT ON search_documents WHEN NEW.tokens <> ''
BEGIN
  INSERT INTO search_words (rowid, tokens) VALUES (NEW.id, NEW.company_id || replace(NEW.tokens, ' ', ' ' || NEW.company_id));
END;


CREATE TRIGGER search_documents_out AFTER UPDATE OF tokens ON search_documents WHEN OLD.tokens <> '' AND OLD.tokens <> NEW.tokens
BEGIN
  INSERT INTO search_words (search_words, rowid, tokens) VALUES ('delete', OLD.id, OLD.company_id || replace(OLD.tokens, ' ', ' ' || OLD.company_id));
  INSERT INTO search_words (rowid, tokens) SELECT NEW.id, NEW.company_id || replace(NEW.tokens, ' ', ' ' || NEW.company_id) WHERE NEW.tokens <> '';
END;


CREATE TRIGGER search_documents_in AFTER UPDATE OF tokens ON search_documents WHEN OLD.tokens = '' AND NEW.tokens <> ''
BEGIN
  INSERT INTO search_words (rowid, tokens) VALUES (NEW.id, NEW.company_id || replace(NEW.tokens, ' ', ' ' || NEW.company_id));
END;


CREATE TRIGGER search_documents_delete AFTER DELETE ON search_documents WHEN OLD.tokens <> ''
BEGIN
  INSERT INTO search_words (search_words, rowid, tokens) VALUES ('delete', OLD.id, OLD.company_id || replace(OLD.tokens, ' ', ' ' || OLD.company_id));
END;


-- A row that can be found has a document. It is emptied when the row's text changes, so that no word stays that the row has no more.
CREATE TRIGGER requests_search_insert AFTER INSERT ON requests
BEGIN
  INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending) VALUES (NEW.company_id, 'request', NEW.id, NEW.id, '', 0, 1);
END;


CREATE TRIGGER requests_search_update AFTER UPDATE OF title, description, fields ON requests
WHEN OLD.title IS NOT NEW.title OR OLD.description IS NOT NEW.description OR OLD.fields IS NOT NEW.fields
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER requests_search_move AFTER UPDATE OF service_id, offering_id ON requests
WHEN OLD.service_id IS NOT NEW.service_id OR OLD.offering_id IS NOT NEW.offering_id
BEGIN
  UPDATE search_documents SET pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER requests_search_delete AFTER DELETE ON requests
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
END;


CREATE TRIGGER comments_search_insert AFTER INSERT ON comments
BEGIN
  INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending) VALUES (NEW.company_id, 'comment', NEW.id, NEW.request_id, '', 0, 1);
END;


CREATE TRIGGER comments_search_update AFTER UPDATE OF body, visibility ON comments
WHEN OLD.body IS NOT NEW.body OR OLD.visibility IS NOT NEW.visibility
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER comments_search_delete AFTER DELETE ON comments
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
END;


CREATE TRIGGER services_search_insert AFTER INSERT ON services
BEGIN
  INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) VALUES (NEW.company_id, 'service', NEW.id, '', 0, 1);
END;


CREATE TRIGGER services_search_update AFTER UPDATE OF name ON services WHEN OLD.name IS NOT NEW.name
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER services_search_delete AFTER DELETE ON services
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
END;


CREATE TRIGGER offerings_search_insert AFTER INSERT ON offerings
BEGIN
  INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) VALUES (NEW.company_id, 'offering', NEW.id, '', 0, 1);
END;


CREATE TRIGGER offerings_search_update AFTER UPDATE OF name ON offerings WHEN OLD.name IS NOT NEW.name
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER offerings_search_delete AFTER DELETE ON offerings
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
END;


CREATE TRIGGER users_search_insert AFTER INSERT ON users
BEGIN
  INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) VALUES (NEW.company_id, 'user', NEW.id, '', 0, 1);
END;


CREATE TRIGGER users_search_update AFTER UPDATE OF name, email ON users WHEN OLD.name IS NOT NEW.name OR OLD.email IS NOT NEW.email
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
END;


CREATE TRIGGER users_search_delete AFTER DELETE ON users
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
END;


-- What was there before gets its documents now, and its tokens from the first node that runs.
INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) SELECT company_id, 'service', id, '', 0, 1 FROM services;


INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) SELECT company_id, 'offering', id, '', 0, 1 FROM offerings;


INSERT INTO search_documents (company_id, kind, row_id, tokens, version, pending) SELECT company_id, 'user', id, '', 0, 1 FROM users;


INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending) SELECT company_id, 'request', id, id, '', 0, 1 FROM requests ORDER BY created_at, id;


INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending) SELECT company_id, 'comment', id, request_id, '', 0, 1 FROM comments ORDER BY created_at, id;
