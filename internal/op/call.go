package op

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"atrium/authz"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Call is what a door adds to one call of an operation. The zero value adds nothing.
type Call struct {
	IdempotencyKey string                        // ≤ 255 characters; empty for none
	Fingerprint    [32]byte                      // hash of what the caller sent; the key with another one is idempotency_mismatch
	Render         func(out any) (Answer, error) // needed with IdempotencyKey: renders the answer to store
	IfMatch        func(row any) bool            // reports whether the row is still as the caller saw it; nil for no check

	admitted *authz.Decision // Admit's decision about the operation's own verb; nil when Admit was not called
	checked  bool            // Decode or Check has validated the input
}

// Answer is what a door sent back, stored under an idempotency key.
type Answer struct {
	Status   int
	Header   map[string]string
	Body     []byte
	Repeated bool // this is the first answer to an earlier call with the same key
}

// SealedHeader is in the stored headers of an answer whose body is sealed under the master key, bound to the call's fingerprint. Nobody
// is sent it: the door that sealed the body opens it. A company that moves gets the body sealed under the other master key.
const SealedHeader = "Sealed"

// Admit returns an error when there is no caller or the caller lacks the operation's scope. Doors call it before they read
// a body. The denial is audited; target is the id that the caller named, if any. Run reuses the decision of the Call that
// Admit returns, unless the input asks for finer verbs.
func (o *Operation[In, Out]) Admit(ctx context.Context, e *Engine, target string) (Call, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return Call{}, apperr.Unauthenticated(nil)
	}
	d, err := e.decide(ctx, p, &o.info, o.info.Verb)
	if err != nil {
		return Call{}, err
	}
	if !d.Allow && d.By.Kind != "role" {
		return Call{}, e.refuse(ctx, p, &o.info, []string{o.info.Verb}, target, d)
	}
	return Call{admitted: &d}, nil
}

// Decode reads the input from a body and URL parameters. Returns validation_error with one detail per fault.
func (o *Operation[In, Out]) Decode(raw []byte, pathParam func(string) string, query url.Values) (In, error) {
	var in In
	if details := o.info.Input.Decode(raw, pathParam, query, &in); len(details) > 0 {
		return in, apperr.Invalid(details...)
	}
	return in, nil
}

// Check validates an input that a door has bound to the operation's struct itself. sent holds the body's decoded fields as
// the caller sent them. Returns the error that Decode returns for the same body.
func (o *Operation[In, Out]) Check(sent map[string]any) error {
	if details := o.info.Input.CheckSent(sent); len(details) > 0 {
		return apperr.Invalid(details...)
	}
	return nil
}

// WithFaults makes faults add what else is wrong with an input that breaks a rule, such as the answers to a form, so that one answer
// names all. It reads what the caller sees, and is asked only where the fields that it goes by keep their rules. What it says of a field
// that breaks a rule is left out.
func (o *Operation[In, Out]) WithFaults(faults func(ctx context.Context, tx *Tx, in In) ([]apperr.Detail, error), fields ...string) *Operation[In, Out] {
	o.faults, o.faultsOf = faults, fields
	return o
}

// WithCheck is WithFaults for a function that returns them as a validation error, such as the check with which the operation itself begins.
func (o *Operation[In, Out]) WithCheck(check func(ctx context.Context, tx *Tx, in In) error, fields ...string) *Operation[In, Out] {
	return o.WithFaults(func(ctx context.Context, tx *Tx, in In) ([]apperr.Detail, error) { return Details(check(ctx, tx, in)) }, fields...)
}

// AllFaults returns the error of Decode or Check with the details that WithFaults adds, if the caller may call the operation.
func (o *Operation[In, Out]) AllFaults(ctx context.Context, e *Engine, in In, err error) error {
	known, ok := errors.AsType[*apperr.Error](err)
	if o.faults == nil || !ok || known.Code != apperr.Validation || slices.ContainsFunc(known.Details, o.concerns) {
		return err
	}
	ctx, a, refused := start(ctx, e, o, in, new(Call).Checked())
	if refused != nil || !a.decision.Allow {
		return err
	}
	more, failed := o.faults(ctx, &Tx{Client: e.Store.Reader(), attempt: a}, in)
	if failed != nil {
		return err
	}
	return apperr.Invalid(append(known.Details, unnamed(known.Details, more)...)...)
}

// concerns reports whether a fault is in a field that faults goes by, or in the body as a whole.
func (o *Operation[In, Out]) concerns(d apperr.Detail) bool {
	field, _, _ := strings.Cut(d.Field, ".")
	return field == "body" || slices.Contains(o.faultsOf, field)
}

// Checked marks the call's input as validated by Decode or Check, so that Run does not validate it again.
func (c Call) Checked() *Call {
	c.checked = true
	return &c
}

// Matches returns precondition_failed when the caller saw an older row. OnRow checks it for the row that the caller names; an operation
// on a row that the caller need not name, such as its company, calls this.
func (tx *Tx) Matches(row any) error { return tx.call.matches(row) }

// matches returns precondition_failed when the caller saw an older row.
func (c *Call) matches(row any) error {
	if c == nil || c.IfMatch == nil || c.IfMatch(row) {
		return nil
	}
	return apperr.New(apperr.PreconditionFailed, "The resource has changed since you read it.")
}
