-- atlas:delimiter \n\n\n

-- One index for the company and the words: with the words alone, a search would read what all companies have.
CREATE EXTENSION IF NOT EXISTS btree_gin;


-- The index of the tokens of search_documents. It has no row-level security: PostgreSQL's text operators are not leakproof, so under a policy
-- every row of the company would be read. Package search alone reads it, and always says which company. It holds no text but these words.
CREATE TABLE search_vectors (
  n bigint PRIMARY KEY,
  company_id character varying NOT NULL,
  row_id character varying NOT NULL,
  request_id character varying NOT NULL,
  tokens tsvector NOT NULL
);


CREATE INDEX search_vectors_tokens ON search_vectors USING gin (company_id, tokens) WITH (gin_pending_list_limit = 1024);


CREATE INDEX search_vectors_newest ON search_vectors (company_id, n);


CREATE FUNCTION search_documents_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR NEW.tokens = '' THEN
    DELETE FROM search_vectors WHERE n = OLD.id;
  ELSE
    INSERT INTO search_vectors (n, company_id, row_id, request_id, tokens)
    VALUES (NEW.id, NEW.company_id, NEW.row_id, coalesce(NEW.request_id, ''), array_to_tsvector(string_to_array(NEW.tokens, ' ')))
    ON CONFLICT (n) DO UPDATE SET tokens = excluded.tokens;
  END IF;
  RETURN NULL;
END $$;


CREATE TRIGGER search_documents_insert AFTER INSERT ON search_documents
FOR EACH ROW WHEN (NEW.tokens <> '') EXECUTE FUNCTION search_documents_index();


CREATE TRIGGER search_documents_update AFTER UPDATE OF tokens ON search_documents
FOR EACH ROW WHEN (OLD.tokens <> NEW.tokens) EXECUTE FUNCTION search_documents_index();


CREATE TRIGGER search_documents_delete AFTER DELETE ON search_documents
FOR EACH ROW WHEN (OLD.tokens <> '') EXECUTE FUNCTION search_documents_index();


-- A row that can be found has a document. It is emptied when the row's text changes, so that no word stays that the row has no more.
CREATE FUNCTION search_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  about text;
BEGIN
  IF TG_ARGV[0] = 'request' THEN
    about := NEW.id;
  ELSIF TG_ARGV[0] = 'comment' THEN
    about := NEW.request_id;
  END IF;
  INSERT INTO search_documents (company_id, kind, row_id, request_id, tokens, version, pending)
  VALUES (NEW.company_id, TG_ARGV[0], NEW.id, about, '', 0, 1) ON CONFLICT (company_id, row_id) DO NOTHING;
  RETURN NULL;
END $$;


CREATE FUNCTION search_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE search_documents SET tokens = '', pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
  RETURN NULL;
END $$;


CREATE FUNCTION search_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE search_documents SET pending = pending + 1 WHERE company_id = NEW.company_id AND row_id = NEW.id;
  RETURN NULL;
END $$;


CREATE FUNCTION search_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_documents WHERE company_id = OLD.company_id AND row_id = OLD.id;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_search_insert AFTER INSERT ON requests FOR EACH ROW EXECUTE FUNCTION search_made('request');


CREATE TRIGGER requests_search_update AFTER UPDATE OF title, description, fields ON requests FOR EACH ROW
WHEN (OLD.title <> NEW.title OR OLD.description <> NEW.description OR OLD.fields::text IS DISTINCT FROM NEW.fields::text) EXECUTE FUNCTION search_changed();


CREATE TRIGGER requests_search_move AFTER UPDATE OF service_id, offering_id ON requests FOR EACH ROW
WHEN (OLD.service_id <> NEW.service_id OR OLD.offering_id <> NEW.offering_id) EXECUTE FUNCTION search_moved();


CREATE TRIGGER requests_search_delete AFTER DELETE ON requests FOR EACH ROW EXECUTE FUNCTION search_gone();


CREATE TRIGGER comments_search_insert AFTER INSERT ON comments FOR EACH ROW EXECUTE FUNCTION search_made('comment');


CREATE TRIGGER comments_search_update AFTER UPDATE OF body, visibility ON comments FOR EACH ROW
WHEN (OLD.body <> NEW.body OR OLD.visibility <> NEW.visibility) EXECUTE FUNCTION search_changed();


CREATE TRIGGER comments_search_delete AFTER DELETE ON comments FOR EACH ROW EXECUTE FUNCTION search_gone();


CREATE TRIGGER services_search_insert AFTER INSERT ON services FOR EACH ROW EXECUTE FUNCTION search_made('service');


CREATE TRIGGER services_search_update AFTER UPDATE OF name ON services FOR EACH ROW
WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION search_changed();


CREATE TRIGGER services_search_delete AFTER DELETE ON services FOR EACH ROW EXECUTE FUNCTION search_gone();


CREATE TRIGGER offerings_search_insert AFTER INSERT ON offerings FOR EACH ROW EXECUTE FUNCTION search_made('offering');


CREATE TRIGGER offerings_search_update AFTER UPDATE OF name ON offerings FOR EACH ROW
WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION search_changed();


CREATE TRIGGER offerings_search_delete AFTER DELETE ON offerings FOR EACH ROW EXECUTE FUNCTION search_gone();


CREATE TRIGGER users_search_insert AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION search_made('user');


CREATE TRIGGER users_search_update AFTER UPDATE OF name, email ON users FOR EACH ROW
WHEN (OLD.name <> NEW.name OR OLD.email <> NEW.email) EXECUTE FUNCTION search_changed();


CREATE TRIGGER users_search_delete AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION search_gone();
