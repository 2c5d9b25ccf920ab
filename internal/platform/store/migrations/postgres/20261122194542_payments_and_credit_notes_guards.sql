-- atlas:delimiter \n\n\n

-- The name on an invoice is fixed as well; a credit note never changes, and of a payment only how it went.
DROP TRIGGER invoices_no_update ON invoices;


CREATE TRIGGER invoices_no_update BEFORE UPDATE OF number, bill_to, period_start, period_end, lines, subtotal, credits_applied, amount_due, currency ON invoices
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER credit_notes_no_update BEFORE UPDATE OF number, invoice_id, bill_to, description, amount, credited ON credit_notes
FOR EACH ROW EXECUTE FUNCTION refuse_change();


CREATE TRIGGER payments_no_update BEFORE UPDATE OF invoice_id, attempt, amount, customer, payment_method ON payments
FOR EACH ROW EXECUTE FUNCTION refuse_change();
