package op_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/service"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// The operations of the tests. They work on services, whose verbs the roles know.
var (
	makes = op.New("service.create", op.Spec{Resource: "Service", Action: op.Create, Scope: "services:write"},
		func(ctx context.Context, tx *op.Tx, in named) (*ent.Service, error) {
			s, err := tx.Service.Create().SetName(in.Name).SetSlug(text.Slug(in.Name, "s")).Save(ctx)
			if err != nil {
				return nil, err
			}
			tx.Changed(nil, s)
			if in.Fail != nil {
				return nil, in.Fail
			}
			return s, tx.Emit(ctx, "service.created", s.ID, map[string]string{"id": s.ID})
		})

	gets    = op.Get("service.read", op.Spec{Resource: "Service", Action: op.Read, Scope: "services:read"}, loadService)
	renames = op.OnRow("service.update", op.Spec{Resource: "Service", Action: op.Update, Scope: "services:write"}, loadService,
		func(ctx context.Context, tx *op.Tx, before *ent.Service, in renaming) (*ent.Service, error) {
			after, err := before.Update().SetName(in.Name).Save(ctx)
			tx.Changed(before, after)
			return after, err
		})
	accepts = op.OnRow("service.update", op.Spec{Resource: "Service", Action: op.Update, Scope: "services:write"}, loadService,
		func(_ context.Context, tx *op.Tx, s *ent.Service, _ renaming) (*ent.Service, error) {
			tx.As("service.accepted")
			return s, nil
		}).WithVerbs(func(in renaming) []string { return []string{"request.accept", "request." + in.Name} })
	settles = op.New("service.settle", op.Spec{Resource: "Service", Action: op.Update, AdminLayer: true},
		func(context.Context, *op.Tx, named) (struct{}, error) { return struct{}{}, nil })
)

type named struct {
	Name string `json:"name" minLength:"1"`
	Fail error  `json:"-"`
}

type renaming struct {
	op.ByID
	Name string `json:"name" minLength:"1"`
}

func loadService(ctx context.Context, tx *op.Tx, id string) (*ent.Service, error) {
	return op.Lock(tx, tx.Service.Query().Where(service.ID(id))).Only(ctx)
}

// entries returns the audit entries with an action, in their order.
func entries(t *testing.T, w *testkit.World, action string) []*ent.AuditEntry {
	t.Helper()
	list, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action)).Order(auditentry.ByID()).All(w.As(w.A, principal.Owner))
	require.NoError(t, err)
	return list
}

// services counts company A's services.
func services(t *testing.T, w *testkit.World) int {
	t.Helper()
	n, err := w.Store.Reader().Service.Query().Count(w.As(w.A, principal.Owner))
	require.NoError(t, err)
	return n
}

// as returns a context in which a person with the role calls, changed by fn.
func as(w *testkit.World, role principal.Role, fn func(*principal.Principal)) context.Context {
	p, _ := principal.From(w.As(w.A, role))
	q := *p
	fn(&q)
	return principal.With(context.Background(), &q)
}

func refused(t *testing.T, err error, code apperr.Code) *apperr.Error {
	t.Helper()
	var e *apperr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, "%v", err)
	return e
}
