package websession_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/grant"
	"atrium/ent/signin"
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/websession"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// enter signs the person of a role in with a new browser, and returns the cookie's value.
func (h *house) enter(role principal.Role) string {
	h.t.Helper()
	h.letIn(h.A.Users[role])
	return h.browser().signIn()
}

func run[In, Out any](ctx context.Context, h *house, o *op.Operation[In, Out], in In) (Out, error) {
	out, _, err := op.Run(ctx, h.Engine, o, in, nil)
	return out, err
}

func (h *house) forbidden(err error) {
	h.t.Helper()
	require.Equal(h.t, apperr.Forbidden, apperr.CodeOf(err), "%v", err)
}

// People see their open sessions, admins those of everybody. Ended and expired sessions are not shown.
func TestListSessions(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		member, other := h.enter(principal.Member), h.enter(principal.Member)
		ended := h.enter(principal.Member)
		admin := h.enter(principal.Admin)
		_, err := run(h.as(ended), h, websession.End, op.ByID{ID: h.row(ended).ID})
		require.NoError(t, err)
		memberID := h.A.Users[principal.Member].ID
		list := func(as, userID string, page paging.Page) paging.List[*ent.Session] {
			t.Helper()
			out, err := run(h.as(as), h, websession.List, websession.ListInput{Page: page, UserID: userID})
			require.NoError(t, err)
			return out
		}
		own := list(member, "", paging.Page{})
		require.Equal(t, 2, own.Total)
		require.Equal(t, h.row(other).ID, own.Rows[0].ID, "the newest first")
		require.Equal(t, 2, list(member, memberID, paging.Page{}).Total)
		require.Zero(t, list(member, h.A.Users[principal.Admin].ID, paging.Page{}).Total)
		require.Equal(t, 2, list(admin, memberID, paging.Page{}).Total)
		require.Len(t, list(admin, memberID, paging.Page{Size: 1, Sort: "lastSeenAt"}).Rows, 1)
		require.Equal(t, 1, list(admin, "", paging.Page{}).Total)
		require.Zero(t, list(admin, h.B.Owner.ID, paging.Page{}).Total)
		h.Clock.SetOffset(2 * time.Hour)
		require.Zero(t, list(h.enter(principal.Owner), memberID, paging.Page{}).Total, "all are over")

		key, err := h.authn.APIKey(t.Context(), h.A.LiveKey, somewhere)
		require.NoError(t, err)
		_, err = run(principal.With(t.Context(), &key.Principal), h, websession.List, websession.ListInput{})
		h.forbidden(err)
	})
}

// An ended session is invalid at once, and the browser is not signed in again without a question.
func TestEndSession(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		agent, member, admin := h.enter(principal.Agent), h.enter(principal.Member), h.enter(principal.Admin)
		end := func(as string, id string) error {
			_, err := run(h.as(as), h, websession.End, op.ByID{ID: id})
			return err
		}
		h.forbidden(end(agent, h.row(member).ID))
		h.forbidden(end(agent, h.row(admin).ID))
		require.NotNil(t, h.who(member))
		require.NoError(t, end(admin, h.row(member).ID))
		require.Nil(t, h.who(member))
		row, err := h.Store.Reader().SignIn.Query().Where(signin.ID(h.row(member).SignInID)).Only(system())
		require.NoError(t, err)
		require.NotNil(t, row.EndedAt)
		require.NoError(t, end(admin, h.row(member).ID), "a second time changes nothing")
		require.NoError(t, end(agent, h.row(agent).ID))
		require.Nil(t, h.who(agent))
		require.Equal(t, apperr.NotFound, apperr.CodeOf(end(admin, "ses_none")))

		h.letIn(h.B.Owner)
		elsewhere := h.browser().signIn()
		require.Equal(t, apperr.NotFound, apperr.CodeOf(end(admin, h.row(elsewhere).ID)))
		require.NotNil(t, h.who(elsewhere))
		require.Equal(t, []string{"denied", "denied", "allowed", "allowed", "allowed"}, h.audited("session.ended"))
	})
}

// Signing out everywhere ends all sessions and the tokens of all applications, on every node. People who do it for themselves
// are signed out at the provider too.
func TestSignOutEverywhere(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		there := h.node()
		first, second, others := h.enter(principal.Agent), h.enter(principal.Agent), h.enter(principal.Member)
		u := h.A.Users[principal.Agent]
		operators, _, err := h.tokens.Issue(t.Context(), u.ID, u.CompanyID, identity.OperatorClient, nil, time.Hour)
		require.NoError(t, err)
		standing := map[string]func(a *authn.Authenticator) error{
			"first session":  func(a *authn.Authenticator) error { _, err := a.Session(t.Context(), first, somewhere); return err },
			"second session": func(a *authn.Authenticator) error { _, err := a.Session(t.Context(), second, somewhere); return err },
			"token":          func(a *authn.Authenticator) error { _, err := a.Bearer(t.Context(), operators); return err },
		}
		for name, works := range standing {
			require.NoError(t, works(h.authn), name)
			require.NoError(t, works(there), name)
		}
		_, err = run(h.as(others), h, websession.EndAll, websession.EndAllInput{UserID: u.ID})
		h.forbidden(err)
		_, err = run(h.as(first), h, websession.EndAll, websession.EndAllInput{UserID: u.ID})
		require.NoError(t, err)
		done := time.Now()
		for name, works := range standing {
			require.ErrorIs(t, works(h.authn), authn.ErrRefused, name)
		}
		for name, works := range standing {
			require.Eventually(t, func() bool { return works(there) != nil }, 20*time.Second, time.Millisecond, name)
		}
		t.Logf("over on the other node after %s", time.Since(done).Round(time.Millisecond))
		require.NotNil(t, h.who(others))
		open := func(accountID string) int {
			n, err := h.Store.Reader().SignIn.Query().Where(signin.AccountID(accountID), signin.EndedAtIsNil()).Count(system())
			require.NoError(t, err)
			return n
		}
		require.Zero(t, open(u.AccountID))
		n, err := h.Store.Reader().Grant.Query().Where(grant.UserID(u.ID), grant.RevokedAtIsNil()).Count(system())
		require.NoError(t, err)
		require.Zero(t, n)

		// An admin can act only within the company: the person's sign-in may serve other companies.
		admin := h.enter(principal.Admin)
		_, err = run(h.as(admin), h, websession.EndAll, websession.EndAllInput{UserID: h.A.Users[principal.Member].ID})
		require.NoError(t, err)
		require.Nil(t, h.who(others))
		require.Equal(t, 1, open(h.A.Users[principal.Member].AccountID))
		require.Equal(t, []string{"denied", "allowed", "allowed"}, h.audited("session.ended_all"))
		_, err = run(h.as(admin), h, websession.EndAll, websession.EndAllInput{UserID: h.B.Owner.ID})
		require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
		require.NotNil(t, h.who(h.enter(principal.Agent)), "signing in again works")
	})
}

// Deactivation ends the person's sessions within a minute on every node, until the person is active again and signs in.
func TestDeactivationEndsSessions(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		there := h.node()
		value := h.enter(principal.Agent)
		_, err := there.Session(t.Context(), value, somewhere)
		require.NoError(t, err)
		u := h.A.Users[principal.Agent]
		testkit.Run(t, h.World, h.As(h.A, principal.Owner), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: u.ID}})
		done := time.Now()
		require.Nil(t, h.who(value))
		require.Eventually(t, func() bool { _, err := there.Session(t.Context(), value, somewhere); return err != nil }, time.Minute, time.Millisecond)
		t.Logf("out on the other node after %s", time.Since(done).Round(time.Millisecond))
		h.letIn(u)
		require.NotEqual(t, http.StatusSeeOther, h.browser().follow("/login", "").StatusCode)
		testkit.Run(t, h.World, h.As(h.A, principal.Owner), people.ReactivateUser, op.ByID{ID: u.ID})
		require.Nil(t, h.who(value))
		require.NotNil(t, h.who(h.enter(principal.Agent)))
	})
}

// A person can switch to the sandbox and back in one browser. API keys and tokens cannot.
func TestSwitchToTheSandbox(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		there := h.node()
		value := h.enter(principal.Member)
		live := h.who(value)
		move := func(sandbox bool) websession.Switched {
			t.Helper()
			out, err := run(h.as(value), h, websession.Switch, websession.SwitchInput{Sandbox: sandbox})
			require.NoError(t, err)
			return out
		}
		_, err := there.Session(t.Context(), value, somewhere)
		require.NoError(t, err)
		require.Equal(t, websession.Switched{ID: live.SessionID, Sandbox: true, CompanyID: h.A.Sandbox.ID}, move(true))
		in := h.who(value)
		require.True(t, in.Sandbox)
		require.Equal(t, h.A.Sandbox.ID, in.CompanyID)
		require.NotEqual(t, live.ID, in.ID)
		require.Eventually(t, func() bool {
			c, err := there.Session(t.Context(), value, somewhere)
			return err == nil && c.Principal.CompanyID == h.A.Sandbox.ID && c.Principal.ID == in.ID
		}, 20*time.Second, time.Millisecond)
		move(true)
		c, err := h.Store.Reader().Company.Query().Where(company.ID(h.A.Company.ID)).All(h.as(value))
		require.NoError(t, err)
		require.Empty(t, c, "the live company is another one now")
		listed, err := run(h.as(value), h, websession.List, websession.ListInput{})
		require.NoError(t, err)
		require.Zero(t, listed.Total)
		_, err = run(h.as(value), h, websession.EndAll, websession.EndAllInput{UserID: in.ID})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		require.Equal(t, h.A.Company.ID, move(false).CompanyID)
		require.Equal(t, live.ID, h.who(value).ID)

		bearer := *live
		bearer.Method, bearer.SessionID = principal.MethodBearer, ""
		_, err = run(principal.With(t.Context(), &bearer), h, websession.Switch, websession.SwitchInput{Sandbox: true})
		h.forbidden(err)
		require.Equal(t, "bearer", apperr.From(err).Reason)
		require.Equal(t, []string{"allowed", "denied"}, h.audited("session.switched"), "each in the company that it was asked in")
	})
}

// The session cookie is not accepted by REST.
func TestSessionIsNoCredentialForREST(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		value := h.enter(principal.Owner)
		g := gate.New(gate.Options{Authn: h.authn, Limiter: ratelimit.NewMemory(), Clock: h.Clock, Log: h.Engine.Log})
		call := func(accept gate.Accept, change func(*http.Request)) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://atrium.test/v1/services", nil)
			change(r)
			w := httptest.NewRecorder()
			g.Guard(accept, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
				func(w http.ResponseWriter, r *http.Request, err error) { gate.Fail(h.Engine.Log, w, r, err) }).ServeHTTP(w, r)
			return w.Code
		}
		cookie := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: authn.SessionCookie, Value: value}) }
		require.Equal(t, http.StatusUnauthorized, call(gate.Tokens, cookie))
		require.Equal(t, http.StatusUnauthorized, call(gate.Tokens, header("Authorization", "Bearer "+value)))
		require.Equal(t, http.StatusUnauthorized, call(gate.Tokens, header("X-Api-Key", value)))
		require.Equal(t, http.StatusNoContent, call(gate.Cookies, cookie))
	})
}

// Step-up: dangerous operations need a proof from the last 15 minutes. Signing in again gives one, with a new cookie.
func TestStepUp(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.letIn(h.A.Owner)
		b := h.browser()
		value := b.signIn()
		create := func(value string) error {
			_, err := run(h.as(value), h, apikey.Create, apikey.CreateInput{Name: "CI", Scopes: []string{"services:read"}})
			return err
		}
		require.NoError(t, create(value))
		h.Clock.SetOffset(16 * time.Minute)
		e := apperr.From(create(value))
		require.Equal(t, apperr.Forbidden, e.Code)
		require.Equal(t, "reauthentication_required", e.Reason)
		r := b.follow("/login?prompt=login&returnTo=/settings/keys", "")
		require.Equal(t, h.base+"/settings/keys", r.to, r.body)
		require.Equal(t, []string{"login"}, h.asked[len(h.asked)-1]["prompt"])
		require.NoError(t, create(b.cookie(authn.SessionCookie)))
		require.Nil(t, h.who(value))
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.Session.UpdateOneID(h.row(b.cookie(authn.SessionCookie)).ID).SetAuthenticatedAt(h.Clock.Now().Add(-time.Hour)).Exec(ctx)
		})
		require.Error(t, create(b.cookie(authn.SessionCookie)))
	})
}
