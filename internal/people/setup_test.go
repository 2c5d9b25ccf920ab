package people_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// world names what the tests speak of most: the people of one company, and the owner of another.
type world struct {
	*testkit.World
	t *testing.T

	co                           string // the company's id
	owner, admin, agent, member  *ent.User
	otherOwner                   *ent.User
	asOwner, asAdmin, asOperator context.Context
	asOther                      context.Context
}

// each runs the test on both databases, against worlds of its own.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, kit *testkit.World) {
		of := kit.A.Users
		test(t, &world{
			World: kit, t: t, co: kit.A.Company.ID,
			owner: of[principal.Owner], admin: of[principal.Admin], agent: of[principal.Agent], member: of[principal.Member],
			otherOwner: kit.B.Owner,
			asOwner:    kit.As(kit.A, principal.Owner), asAdmin: kit.As(kit.A, principal.Admin),
			asOperator: principal.With(t.Context(), principal.Operator(kit.A.Company.ID, "test")),
			asOther:    kit.As(kit.B, principal.Owner),
		})
	})
}

// system runs fn across companies.
func (w *world) system(fn func(context.Context, *store.Tx)) {
	w.t.Helper()
	err := w.Store.Write(principal.System(w.t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		fn(ctx, tx)
		return nil
	})
	require.NoError(w.t, err)
}

// another makes one more owner of the company.
func (w *world) another(email string) *ent.User {
	w.t.Helper()
	return w.AddUser(w.t, w.A, email, principal.Owner)
}

// withKey returns a context in which an API key of the user with all scopes calls.
func (w *world) withKey(u *ent.User) context.Context {
	p, _ := principal.From(w.AsUser(u))
	key := *p
	key.Method, key.KeyID, key.KeyName = principal.MethodAPIKey, "key_test", "test"
	return principal.With(w.t.Context(), &key)
}

// audited returns the outcomes of the audit entries with the action, in their order.
func (w *world) audited(action string) []string {
	w.t.Helper()
	rows, err := w.Store.Reader().AuditEntry.Query().
		Where(auditentry.Action(action)).Order(auditentry.ByID()).All(w.asOwner)
	require.NoError(w.t, err)
	var out []string
	for _, r := range rows {
		out = append(out, string(r.Outcome))
	}
	return out
}

// run performs an operation and returns what it returned.
func run[In, Out any](ctx context.Context, w *world, o *op.Operation[In, Out], in In) (Out, error) {
	out, _, err := op.Run(ctx, w.Engine, o, in, nil)
	return out, err
}

// must is run for a call that has to succeed.
func must[In, Out any](ctx context.Context, w *world, o *op.Operation[In, Out], in In) Out {
	w.t.Helper()
	out, err := run(ctx, w, o, in)
	require.NoError(w.t, err)
	return out
}

// refused runs a call that has to be refused with the code, and returns the refusal.
func refused[In, Out any](ctx context.Context, w *world, code apperr.Code, o *op.Operation[In, Out], in In) *apperr.Error {
	w.t.Helper()
	_, err := run(ctx, w, o, in)
	require.Error(w.t, err)
	e := apperr.From(err)
	require.Equal(w.t, code, e.Code, "%v", err)
	return e
}

// fields returns the fields that a validation error names.
func fields(e *apperr.Error) []string {
	var out []string
	for _, d := range e.Details {
		out = append(out, d.Field)
	}
	return out
}

func byID(id string) op.ByID { return op.ByID{ID: id} }
