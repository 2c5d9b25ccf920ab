-- atlas:delimiter \n\n\n

-- An invoice's trigger went with its old table. A credit note never changes, and of a payment only how it went.
CREATE TRIGGER invoices_no_update BEFORE UPDATE OF number, bill_to, period_start, period_end, lines, subtotal, credits_applied, amount_due, currency ON invoices
BEGIN SELECT RAISE(ABORT, 'invoices never change'); END;


CREATE TRIGGER credit_notes_no_update BEFORE UPDATE OF number, invoice_id, bill_to, description, amount, credited ON credit_notes
BEGIN SELECT RAISE(ABORT, 'credit_notes never change'); END;


CREATE TRIGGER payments_no_update BEFORE UPDATE OF invoice_id, attempt, amount, customer, payment_method ON payments
BEGIN SELECT RAISE(ABORT, 'payments never change but in how they went'); END;
