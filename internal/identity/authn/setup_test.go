package authn_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var somewhere = netip.MustParseAddr("192.0.2.7")

// each runs fn on both databases, with an authenticator.
func each(t *testing.T, fn func(t *testing.T, w *testkit.World, a *authn.Authenticator)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, w, authn.New(w.Store, w.Tokens)) })
}

// key issues a key behind which the person of a role stands, by the operator: not every role may make one.
func key(t *testing.T, w *testkit.World, role principal.Role, in apikey.CreateInput) apikey.Issued {
	t.Helper()
	if in.Name == "" {
		in.Name = "K"
	}
	if in.Scopes == nil {
		in.Scopes = principal.ScopeNames
	}
	in.OwnerID = w.A.Users[role].ID
	return testkit.Run(t, w, principal.With(t.Context(), principal.Operator(w.A.Company.ID, "key create")), apikey.Create, in)
}

// change writes as the system, at another process, and waits for nothing.
func change(t *testing.T, s *store.Store, fn func(context.Context, *store.Tx) error) {
	t.Helper()
	require.NoError(t, s.Write(principal.System(context.Background(), "test"), fn))
}

func byID(id string) op.ByID { return op.ByID{ID: id} }
