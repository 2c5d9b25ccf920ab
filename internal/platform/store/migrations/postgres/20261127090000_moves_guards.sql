-- atlas:delimiter \n\n\n

-- A request that moves to another service is counted there. Its status and priority stay, so the trigger on these does not run.
CREATE FUNCTION requests_count_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  facet text := '|' || NEW.status || '|' || NEW.priority;
BEGIN
  IF OLD.service_id < NEW.service_id THEN -- always in one order, so that two moves cannot deadlock
    PERFORM count_rows(OLD.company_id, 'request_service', OLD.service_id || facet, -1);
    PERFORM count_rows(NEW.company_id, 'request_service', NEW.service_id || facet, 1);
  ELSE
    PERFORM count_rows(NEW.company_id, 'request_service', NEW.service_id || facet, 1);
    PERFORM count_rows(OLD.company_id, 'request_service', OLD.service_id || facet, -1);
  END IF;
  RETURN NULL;
END $$;


CREATE TRIGGER requests_count_move AFTER UPDATE OF service_id ON requests
FOR EACH ROW WHEN (OLD.service_id <> NEW.service_id AND OLD.status = NEW.status AND OLD.priority = NEW.priority)
EXECUTE FUNCTION requests_count_move();


-- What earlier moves have left wrong is corrected by the difference, so that counting beside it stays right.
SELECT count_rows(company_id, 'request_service', facet, d) FROM (
  SELECT company_id, facet, sum(n)::bigint AS d FROM (
    SELECT company_id, service_id || '|' || status || '|' || priority AS facet, count(*) AS n FROM requests GROUP BY 1, 2
    UNION ALL
    SELECT company_id, facet, -sum(n) FROM row_counts WHERE kind = 'request_service' GROUP BY 1, 2) AS both_sides
  GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2) AS wrong;


-- Whether a company has agents for phases is remembered as long as nothing changes who may do what.
CREATE TRIGGER agents_authority_insert AFTER INSERT ON agents
FOR EACH ROW EXECUTE FUNCTION announce_authority();
