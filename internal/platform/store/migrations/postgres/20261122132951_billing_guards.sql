-- atlas:delimiter \n\n\n

-- Every live company gets its account. One on a plan that costs something is due at once: its subscription begins.
INSERT INTO billing_accounts (id, created_at, updated_at, company_id, balance, entries, drawn_entry, drawn_amount, invoices, due_at)
SELECT 'bil_' || substr(c.id, 4), c.created_at, c.updated_at, c.id,
  COALESCE((SELECT sum(amount) FROM credit_entries e WHERE e.company_id = c.id), 0),
  (SELECT count(*) FROM credit_entries e WHERE e.company_id = c.id), 0, 0, 0,
  CASE WHEN c.plan IN ('pro', 'starter', 'growth', 'business') THEN c.updated_at END
FROM companies c WHERE c.sandbox_of IS NULL;


-- The ledger and the journal only grow, and an invoice changes in nothing but how it stands.
CREATE TRIGGER credit_entries_no_update BEFORE UPDATE OF type, amount, reason, description, invoice_id, number, balance, drawn_from ON credit_entries
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER journal_lines_no_update BEFORE UPDATE OF source, account, amount ON journal_lines
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER invoices_no_update BEFORE UPDATE OF number, period_start, period_end, lines, subtotal, credits_applied, amount_due, currency ON invoices
FOR EACH ROW EXECUTE FUNCTION refuse_change();
