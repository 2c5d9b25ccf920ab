package issuer_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/externalidentity"
	"atrium/ent/user"
	"atrium/internal/identity/issuer"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/testissuer"
)

// house is an installation that trusts an issuer.
type house struct {
	*testkit.World
	t      *testing.T
	remote *testissuer.Issuer
	issuer *issuer.Issuer
	people *issuer.Directory
}

// each runs the test on both databases. Both companies of the world are named Acme; the first has the slug "acme".
func each(t *testing.T, change func(*issuer.Options), test func(t *testing.T, h *house)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		remote := testissuer.New(t)
		remote.Now = w.Clock.Now
		o := issuer.Options{Issuer: remote.URL, Audience: testissuer.Audience, Transport: remote.Transport}
		if change != nil {
			change(&o)
		}
		i, err := issuer.New(o, w.Clock.Now)
		require.NoError(t, err)
		test(t, &house{World: w, t: t, remote: remote, issuer: i, people: issuer.NewDirectory(i, w.Engine)})
	})
}

// comes returns the user for an access token with the given claims.
func (h *house) comes(c testissuer.Claims) (*ent.User, error) {
	h.t.Helper()
	s, err := h.issuer.AccessToken(context.Background(), h.remote.Token(h.t, c))
	require.NoError(h.t, err)
	return h.people.Find(context.Background(), s, "")
}

// entries returns the number of the company's audit entries, and the actions of those about people.
func (h *house) entries() (all int, actions []string) {
	h.t.Helper()
	ctx := h.As(h.A, principal.Owner)
	all, err := h.Store.Reader().AuditEntry.Query().Count(ctx)
	require.NoError(h.t, err)
	rows, err := h.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceType("User")).Order(auditentry.ByID()).All(ctx)
	require.NoError(h.t, err)
	for _, r := range rows {
		actions = append(actions, r.Action+" "+string(r.Outcome))
	}
	return all, actions
}

func (h *house) jit(on bool) {
	h.t.Helper()
	h.write(func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.UpdateOneID(h.A.Company.ID).SetJitUsers(on).Exec(ctx)
	})
}

func (h *house) write(fn func(context.Context, *store.Tx) error) {
	h.t.Helper()
	require.NoError(h.t, h.Store.Write(principal.System(context.Background(), "test"), fn))
}

func acme(c testissuer.Claims) testissuer.Claims {
	out := testissuer.Claims{"company": "acme", "sub": "ext-1"}
	for name, v := range c {
		out[name] = v
	}
	return out
}

func byCompany(o *issuer.Options) { o.CompanyClaim = "company" }

// At the first sign-in, a subject is linked to the member with its verified address. Later only the subject counts.
func TestFirstComerIsLinked(t *testing.T) {
	each(t, byCompany, func(t *testing.T, h *house) {
		agent := h.A.Users[principal.Agent]
		for _, c := range []testissuer.Claims{
			{"email": agent.Email}, {"email": agent.Email, "email_verified": false}, {"email": agent.Email, "email_verified": "yes"}, {},
			{"email": "stranger@a.test", "email_verified": true}, {"email": h.B.Owner.Email, "email_verified": true},
		} {
			before, _ := h.entries()
			_, err := h.comes(acme(c))
			require.ErrorIs(t, err, issuer.ErrNoMember, "%v", c)
			after, _ := h.entries()
			require.Equal(t, before, after, "a stranger leaves nothing behind")
			h.Clock.SetOffset(h.Clock.Offset() + time.Minute)
		}
		u, err := h.comes(acme(testissuer.Claims{"email": "AGENT-Owner@a.test", "email_verified": true}))
		require.NoError(t, err)
		require.Equal(t, agent.ID, u.ID)
		u, err = h.comes(acme(nil))
		require.NoError(t, err, "the subject is known now")
		require.Equal(t, agent.ID, u.ID)
		require.Equal(t, user.RoleAgent, u.Role)
		u, err = h.comes(acme(testissuer.Claims{"company": h.A.Company.ID, "email": h.A.Owner.Email, "email_verified": true}))
		require.NoError(t, err)
		require.Equal(t, agent.ID, u.ID, "a new address makes nobody somebody else")
		_, actions := h.entries()
		require.Equal(t, []string{"user.linked allowed"}, actions)
		_, err = h.comes(acme(testissuer.Claims{"sub": "ext-2", "email": agent.Email, "email_verified": true}))
		require.ErrorIs(t, err, issuer.ErrNoMember, "the issuer has given the address to somebody else")
		_, actions = h.entries()
		require.Equal(t, []string{"user.linked allowed"}, actions)

		for name, c := range map[string]testissuer.Claims{
			"the sandbox":       {"company": h.A.Sandbox.ID},
			"the other company": {"company": h.B.Company.ID},
			"no company":        {"company": "nowhere"},
		} {
			_, err := h.comes(acme(c))
			require.ErrorIs(t, err, issuer.ErrNoMember, name)
		}
	})
}

// Signing in with the verified address accepts an invitation. A deactivated user stays out.
func TestInvitedAndDeactivated(t *testing.T) {
	each(t, byCompany, func(t *testing.T, h *house) {
		invited := testkit.Run(t, h.World, h.As(h.A, principal.Admin), people.InviteUser, people.InviteUserInput{Email: "new@a.test"})
		c := acme(testissuer.Claims{"email": "new@a.test", "email_verified": true})
		u, err := h.comes(c)
		require.NoError(t, err)
		require.Equal(t, invited.ID, u.ID)
		require.Equal(t, user.StatusActive, u.Status)
		testkit.Run(t, h.World, h.As(h.A, principal.Admin), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: u.ID}})
		_, err = h.comes(c)
		require.ErrorIs(t, err, issuer.ErrNoMember)
		c["sub"] = "ext-2"
		_, err = h.comes(c)
		require.ErrorIs(t, err, issuer.ErrNoMember, "nor by another subject of that address")
	})
}

// An invitation to another company does not keep a subject out. A subject with an unverified address does not get what the
// address was invited to.
func TestInvitationElsewhereKeepsNobodyOut(t *testing.T) {
	each(t, byCompany, func(t *testing.T, h *house) {
		h.jit(true)
		invited := testkit.Run(t, h.World, h.As(h.B, principal.Admin), people.InviteUser, people.InviteUserInput{Email: "ada@elsewhere.test"})
		u, err := h.comes(acme(testissuer.Claims{"email": "ada@elsewhere.test"}))
		require.NoError(t, err)
		require.Equal(t, "ada@elsewhere.test", u.Email)
		require.NotEqual(t, invited.AccountID, u.AccountID)
		other := testkit.Run(t, h.World, h.As(h.B, principal.Admin), people.InviteUser, people.InviteUserInput{Email: "eve@elsewhere.test"})
		again, err := h.comes(acme(testissuer.Claims{"sub": "ext-2", "email": "eve@elsewhere.test", "email_verified": true}))
		require.NoError(t, err)
		require.Equal(t, other.AccountID, again.AccountID, "a verified address is proven")
	})
}

// An account that an import brought has a password of whoever wrote the file, so not even a verified address lets it in.
func TestUnprovenAccountStaysOut(t *testing.T) {
	each(t, byCompany, func(t *testing.T, h *house) {
		h.jit(true)
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.UpdateOneID(h.B.Owner.AccountID).SetUnprovenSince(h.Clock.Now()).Exec(ctx)
		})
		c := acme(testissuer.Claims{"email": h.B.Owner.Email, "email_verified": true})
		_, err := h.comes(c)
		require.ErrorIs(t, err, issuer.ErrNoMember)
		testkit.Run(t, h.World, h.As(h.A, principal.Admin), people.InviteUser, people.InviteUserInput{Email: h.B.Owner.Email})
		_, err = h.comes(c)
		require.ErrorIs(t, err, issuer.ErrNoMember, "an invitation changes nothing")
	})
}

// A company may accept every subject of the issuer. Concurrent calls create one member.
func TestJustInTime(t *testing.T) {
	each(t, byCompany, func(t *testing.T, h *house) {
		h.jit(true)
		c := acme(testissuer.Claims{"email": "ada@elsewhere.test", "name": "Ada"})
		var wg sync.WaitGroup
		ids := make([]string, 16)
		another := issuer.NewDirectory(h.issuer, h.Engine) // of another node
		for n := range ids {
			wg.Go(func() {
				s, err := h.issuer.AccessToken(context.Background(), h.remote.Token(t, c))
				if err != nil {
					return
				}
				u, err := []*issuer.Directory{h.people, another}[n%2].Find(context.Background(), s, "")
				if err != nil {
					t.Error(err)
					return
				}
				ids[n] = u.ID
			})
		}
		wg.Wait()
		u, err := h.comes(c)
		require.NoError(t, err)
		for _, id := range ids {
			require.Equal(t, u.ID, id)
		}
		require.Equal(t, "Ada", u.Name)
		require.Equal(t, user.RoleMember, u.Role)
		require.Equal(t, h.A.Company.ID, u.CompanyID)
		_, actions := h.entries()
		require.Contains(t, actions, "user.created allowed")

		// An unverified address takes over no account of any company.
		for _, email := range []string{h.A.Owner.Email, h.B.Owner.Email} {
			_, err = h.comes(acme(testissuer.Claims{"sub": "ext-9", "email": email}))
			require.ErrorIs(t, err, issuer.ErrNoMember)
		}
		guest, err := h.comes(acme(testissuer.Claims{"sub": "ext-9", "email": h.B.Owner.Email, "email_verified": true}))
		require.NoError(t, err)
		require.Equal(t, h.B.Owner.AccountID, guest.AccountID, "one person in two companies")
		_, err = h.comes(acme(testissuer.Claims{"sub": "ext-10"}))
		require.ErrorIs(t, err, issuer.ErrNoMember, "without an address nobody can be told from others")
		h.jit(false)
		_, err = h.comes(acme(testissuer.Claims{"sub": "ext-11", "email": "late@elsewhere.test", "email_verified": true}))
		require.ErrorIs(t, err, issuer.ErrNoMember)
	})
}

// When the issuer gives roles, users get them, higher and lower ones, except that the last owner stays owner.
func TestRolesFollowTheIssuer(t *testing.T) {
	each(t, func(o *issuer.Options) {
		o.CompanyClaim, o.RoleClaim, o.RoleMap = "company", "groups", map[string]string{"ops": "admin", "desk": "agent", "boss": "owner"}
	}, func(t *testing.T, h *house) {
		h.jit(true)
		role := func(sub, email string, groups any) user.Role {
			t.Helper()
			u, err := h.comes(acme(testissuer.Claims{"sub": sub, "email": email, "email_verified": true, "groups": groups}))
			require.NoError(t, err)
			row, err := h.Store.Reader().User.Query().Where(user.ID(u.ID)).Only(h.As(h.A, principal.Owner))
			require.NoError(t, err)
			require.Equal(t, row.Role, u.Role)
			return u.Role
		}
		require.Equal(t, user.RoleAdmin, role("n", "n@x.test", []string{"ops"}), "a newcomer")
		require.Equal(t, user.RoleAgent, role("n", "n@x.test", []string{"desk"}))
		require.Equal(t, user.RoleAgent, role("n", "n@x.test", []string{"desk"}))
		require.Equal(t, user.RoleAgent, role("n", "n@x.test", nil), "the issuer says nothing")
		require.Equal(t, user.RoleMember, role("n", "n@x.test", []string{}))
		require.Equal(t, user.RoleMember, role("m", "m@x.test", "unknown"))
		require.Equal(t, user.RoleAdmin, role("a", h.A.Users[principal.Agent].Email, "ops"), "somebody who was here before")
		_, actions := h.entries()
		require.Equal(t, []string{
			"user.created allowed", "user.updated allowed", "user.updated allowed", "user.created allowed", "user.linked allowed",
		}, actions)
		entry, err := h.Store.Reader().AuditEntry.Query().Where(auditentry.Action("user.updated")).Order(auditentry.ByID()).First(h.As(h.A, principal.Owner))
		require.NoError(t, err)
		require.JSONEq(t, `{"role": {"from": "admin", "to": "agent"}}`, string(entry.Changes))
		require.Equal(t, "issuer "+h.remote.URL, entry.ActorName)

		require.Equal(t, user.RoleOwner, role("o", h.A.Owner.Email, "ops"), "the last owner")
		before, _ := h.entries()
		require.Equal(t, user.RoleOwner, role("o", h.A.Owner.Email, "ops"))
		after, _ := h.entries()
		require.Equal(t, before, after)
		require.Equal(t, user.RoleOwner, role("b", "b@x.test", "boss"))
		require.Equal(t, user.RoleAdmin, role("o", h.A.Owner.Email, "ops"), "not the last one any more")
	})
}

// When nothing names the company, it is the one that knows the subject or its verified address, or the only one.
func TestCompanyThatNothingNames(t *testing.T) {
	each(t, nil, func(t *testing.T, h *house) {
		c := testissuer.Claims{"email": h.A.Owner.Email, "email_verified": true}
		u, err := h.comes(c)
		require.NoError(t, err)
		require.Equal(t, h.A.Owner.ID, u.ID)
		u, err = h.comes(nil)
		require.NoError(t, err)
		require.Equal(t, h.A.Owner.ID, u.ID)
		h.jit(true)
		_, err = h.comes(testissuer.Claims{"sub": "new", "email": "new@x.test", "email_verified": true})
		require.ErrorIs(t, err, issuer.ErrNoMember, "there are two companies")

		// A member of two companies can name one at the sign-in; a token cannot.
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.Create().SetCompanyID(h.B.Company.ID).SetAccountID(h.A.Users[principal.Agent].AccountID).
				SetEmail(h.A.Users[principal.Agent].Email).SetName("Both").Exec(ctx)
		})
		both := testissuer.Claims{"sub": "both", "email": h.A.Users[principal.Agent].Email, "email_verified": true}
		_, err = h.comes(both)
		require.ErrorIs(t, err, issuer.ErrNoMember)
		s, err := h.issuer.AccessToken(t.Context(), h.remote.Token(t, both))
		require.NoError(t, err)
		for _, tenant := range []*testkit.Tenant{h.A, h.B} {
			u, err := h.people.Find(t.Context(), s, tenant.Company.Slug)
			require.NoError(t, err)
			require.Equal(t, tenant.Company.ID, u.CompanyID)
		}
		_, err = h.people.Find(t.Context(), s, "")
		require.ErrorIs(t, err, issuer.ErrNoMember, "tied to two users now")
	})
}

// An issuer that fails is not taken for one that knows nobody.
func TestIssuerFailsAboutANewcomer(t *testing.T) {
	each(t, func(o *issuer.Options) { o.Company = "acme" }, func(t *testing.T, h *house) {
		agent := h.A.Users[principal.Agent]
		h.remote.Set(func(s *testissuer.Settings) {
			s.Userinfo = testissuer.Claims{"sub": "sub-1", "email": agent.Email, "email_verified": true}
		})
		_, err := h.issuer.AccessToken(t.Context(), h.remote.Token(t, nil)) // the issuer's keys are read
		require.NoError(t, err)
		h.remote.Set(func(s *testissuer.Settings) { s.Down = true })
		_, err = h.comes(nil)
		require.ErrorIs(t, err, issuer.ErrUnavailable)
		h.remote.Set(func(s *testissuer.Settings) { s.Down = false })
		u, err := h.comes(nil)
		require.NoError(t, err)
		require.Equal(t, agent.ID, u.ID)
	})
}

// Access tokens rarely contain an address. The issuer is asked once for a new user, and once in ten seconds for an unknown one.
func TestIssuerIsAskedAboutNewcomers(t *testing.T) {
	each(t, func(o *issuer.Options) { o.Company = "acme" }, func(t *testing.T, h *house) {
		says := func(c testissuer.Claims) { h.remote.Set(func(s *testissuer.Settings) { s.Userinfo = c }) }
		agent := h.A.Users[principal.Agent]
		says(testissuer.Claims{"sub": "somebody else", "email": agent.Email, "email_verified": true})
		_, err := h.comes(nil)
		require.ErrorIs(t, err, issuer.ErrToken)

		says(testissuer.Claims{"sub": "sub-1", "email": "stranger@x.test", "email_verified": true})
		round := func() (asked int) {
			before := h.remote.Asked("/userinfo")
			for range 20 {
				_, err = h.comes(nil)
				require.ErrorIs(t, err, issuer.ErrNoMember)
			}
			return h.remote.Asked("/userinfo") - before
		}
		require.Positive(t, round())
		// The change made by the setup may be noticed only now; then the issuer is asked once more.
		require.Eventually(t, func() bool { return round() == 0 }, 10*time.Second, time.Millisecond)
		asked := h.remote.Asked("/userinfo")

		says(testissuer.Claims{"sub": "sub-1", "email": agent.Email, "email_verified": true})
		h.Clock.SetOffset(11 * time.Second)
		for range 20 {
			u, err := h.comes(nil)
			require.NoError(t, err)
			require.Equal(t, agent.ID, u.ID)
		}
		require.Equal(t, asked+1, h.remote.Asked("/userinfo"))
		n, err := h.Store.Reader().ExternalIdentity.Query().Where(externalidentity.Subject("sub-1")).Count(h.As(h.A, principal.Owner))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}
