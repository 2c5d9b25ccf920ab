package company_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var somewhere = netip.MustParseAddr("192.0.2.7")

func input(name, email string) company.CreateInput {
	return company.CreateInput{Name: name, Plan: "growth", OwnerEmail: email, RedirectURI: "http://127.0.0.1/cb"}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c, err := company.Create(t.Context(), w.Store, input("  Größe & Co.  ", " Ada@X.test "))
		require.NoError(t, err)
		require.Equal(t, "Größe & Co.", c.Company.Name)
		require.Equal(t, c.Company.ID, *c.Sandbox.SandboxOf)
		require.Equal(t, "ada@x.test", c.Owner.Email)
		require.Equal(t, user.RoleOwner, c.Owner.Role)

		sys := principal.System(t.Context(), "test")
		db := w.Store.Reader()
		acc, err := db.Account.Query().Where(account.Email("ada@x.test")).Only(sys)
		require.NoError(t, err)
		same, err := argon2id.ComparePasswordAndHash(c.Password, acc.PasswordHash)
		require.NoError(t, err)
		require.True(t, same)
		mirror, err := db.User.Query().Where(user.CompanyID(c.Sandbox.ID)).Only(sys)
		require.NoError(t, err)
		require.Equal(t, c.Owner.ID, *mirror.LiveUserID)
		n, err := db.AuditEntry.Query().Where(auditentry.CompanyID(c.Company.ID), auditentry.Action("company.created")).Count(sys)
		require.NoError(t, err)
		require.Equal(t, 1, n)

		a := authn.New(w.Store, w.Tokens)
		for key, want := range map[string]string{c.LiveKey: c.Company.ID, c.TestKey: c.Sandbox.ID} {
			cred, err := a.APIKey(t.Context(), key, somewhere)
			require.NoError(t, err)
			require.Equal(t, want, cred.Principal.CompanyID)
			require.Equal(t, principal.AllScopes, cred.Principal.Scopes)
		}
	})
}

// Companies may have the same name and owner. The owner's account keeps its password.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		first, err := company.Create(t.Context(), w.Store, input("Twin", "twin@x.test"))
		require.NoError(t, err)
		second, err := company.Create(t.Context(), w.Store, input("Twin", "twin@x.test"))
		require.NoError(t, err)
		require.NotEmpty(t, first.Password)
		require.Empty(t, second.Password, "the account existed")
		require.Equal(t, first.Owner.AccountID, second.Owner.AccountID)
		require.Equal(t, []string{"twin", "twin-2"}, []string{first.Company.Slug, second.Company.Slug})
	})
}

// Concurrent creations either succeed or return conflict. None leaves rows of a company behind that was not created.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		sys := principal.System(t.Context(), "test")
		before, err := w.Store.Reader().Company.Query().Count(sys)
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = company.Create(context.Background(), w.Store, input("Same", fmt.Sprintf("o%d@x.test", i/2)))
			})
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else {
				require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "%v", err)
			}
		}
		require.Positive(t, made)
		after, err := w.Store.Reader().Company.Query().Count(sys)
		require.NoError(t, err)
		require.Equal(t, before+2*made, after)
	})
}

func TestCreateFaults(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	_, err := company.Create(t.Context(), w.Store, company.CreateInput{Name: " ", Plan: "gold", OwnerEmail: "Ada <ada@x.test>"})
	var fields []string
	for _, d := range apperr.From(err).Details {
		fields = append(fields, d.Field)
	}
	require.Equal(t, []string{"name", "plan", "ownerEmail"}, fields)
}

// Only the operator may set a company's own limits. They apply at once, and null restores the plan's.
func TestSetLimits(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		operator := principal.With(t.Context(), principal.Operator(w.A.Company.ID, "company limits"))
		a := authn.New(w.Store, w.Tokens)
		limit := func() (int, int) {
			c, err := a.APIKey(t.Context(), w.A.LiveKey, somewhere)
			require.NoError(t, err)
			return c.Limit.PerMinute, c.Limit.PerDay
		}
		minute, day := limit()
		in := company.LimitsInput{ByID: op.ByID{ID: w.A.Company.ID}, PerMinute: op.SetTo(7)}
		testkit.Run(t, w, operator, company.SetLimits, in)
		m, d := limit()
		require.Equal(t, []int{7, day}, []int{m, d})
		in.PerMinute = op.Patch[int]{}
		require.NoError(t, in.PerMinute.UnmarshalJSON([]byte("null")))
		testkit.Run(t, w, operator, company.SetLimits, in)
		m, _ = limit()
		require.Equal(t, minute, m)

		for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, role), company.SetLimits, in, apperr.Forbidden, role)
		}
		in.ID = w.B.Company.ID
		testkit.Refused(t, w, operator, company.SetLimits, in, apperr.NotFound, "an operator works in one company at a time")
	})
}
