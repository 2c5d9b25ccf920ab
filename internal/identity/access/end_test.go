package access_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/ent/mailedlink"
	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/websession"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// What a person has, as furnish makes it.
var (
	ofSignIn  = []string{"sign-in", "session", "session's grant", "grant"}
	ofUser    = []string{"session", "session's grant", "grant", "other session", "other grant", "issuer's session", "operator's token"}
	ofSignIns = slices.Concat(ofSignIn, []string{"grant in B", "other sign-in", "other session", "other grant", "halfway"})
	ofAccount = slices.Concat(ofSignIns, []string{"issuer's session", "operator's token"})
	all       = slices.Concat(ofAccount, []string{"colleague's sign-in", "colleague's session", "colleague's grant"})

	here   = "app, sign-in"
	inB    = "app in B, sign-in"
	there  = "app, other sign-in"
	nobody []string
)

// ways are all ways in which access ends, and all effects of each: what ends, and which clients are told of which sign-in.
// Whatever is not named goes on.
var ways = []struct {
	name string
	why  access.Reason
	do   func(h *house, k keys)
	ends []string
	told []string
}{
	{"deactivated", access.Deactivated, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Admin), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: h.person.ID}})
	}, ofUser, []string{here, there}},
	{"erased", access.Erased, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Owner), people.ErasePerson, people.ErasePersonInput{UserID: h.person.ID, Reason: "asked"})
	}, ofUser, []string{here, there}},
	{"all sessions, by an admin", access.SignedOutEverywhere, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Admin), websession.EndAll, websession.EndAllInput{UserID: h.person.ID})
	}, ofUser, []string{here, there}},
	{"all sessions, by the person", access.SignedOutEverywhere, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.AsUser(h.person), websession.EndAll, websession.EndAllInput{UserID: h.person.ID})
	}, ofAccount, []string{inB, there, here}},
	{"session ended by an admin", access.SessionEnded, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Admin), websession.End, op.ByID{ID: h.rows["session"]})
	}, ofSignIn, []string{here}},
	{"session ended by the person", access.SessionEnded, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.AsUser(h.person), websession.End, op.ByID{ID: h.rows["session"]})
	}, append(slices.Clone(ofSignIn), "grant in B"), []string{inB, here}},
	{"another issuer's session ended", access.SessionEnded, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Admin), websession.End, op.ByID{ID: h.rows["issuer's session"]})
	}, []string{"issuer's session"}, nobody},
	{"logout in the web application", access.SessionEnded, func(h *house, _ keys) {
		h.browser().send(http.MethodPost, origin+"/logout", nil)
	}, append(slices.Clone(ofSignIn), "grant in B"), []string{inB, here}},
	{"logout at the hosted pages", access.SignedOut, func(h *house, _ keys) {
		h.browser().submit("/account/mfa", "/account/mfa/signout", url.Values{})
	}, append(slices.Clone(ofSignIn), "grant in B"), []string{inB, here}},
	{"logout by an application", access.SignedOut, func(h *house, _ keys) {
		h.browser().send(http.MethodPost, origin+"/oauth2/end-session", url.Values{"confirm": {"yes"}})
	}, append(slices.Clone(ofSignIn), "grant in B"), []string{inB, here}},
	{"MFA reset", access.FactorsReset, func(h *house, _ keys) {
		h.enrol()
		h.resetMFA()
	}, ofSignIns, []string{inB, there, here}},
	{"MFA reset without factors", access.FactorsReset, func(h *house, _ keys) { h.resetMFA() }, []string{"sign-in", "other sign-in", "halfway"}, nobody},
	{"password changed", access.PasswordChanged, func(h *house, _ keys) {
		h.browser().submit("/account/password", "", url.Values{"current": {plain}, "password": {"tangled violet otter 9"}})
	}, []string{"other sign-in", "other session", "other grant", "halfway", "issuer's session"}, []string{there}},
	{"password reset", access.PasswordReset, func(h *house, _ keys) {
		h.browser().submit("/reset?token="+h.mailedLink(), "", url.Values{"token": {h.mailedLink()}, "password": {"tangled violet otter 9"}})
	}, ofAccount, []string{inB, there, here}},
	{"client deleted", access.ClientDeleted, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Owner), identity.DeleteClient, op.ByID{ID: h.app.ID})
	}, []string{"grant", "other grant", "colleague's grant"}, nobody},
	{"client widened", access.ClientWidened, func(h *house, _ keys) {
		testkit.Run(h.t, h.World, h.As(h.A, principal.Owner), identity.UpdateClient, identity.UpdateClientInput{
			ByID: op.ByID{ID: h.app.ID}, Scopes: op.SetTo(append(slices.Clone(h.app.Scopes), "audit:read")),
		})
	}, []string{"grant", "other grant", "colleague's grant"}, []string{there, here, "app, colleague's sign-in"}},
	{"token revoked", access.TokenRevoked, func(h *house, k keys) {
		h.browser().send(http.MethodPost, origin+"/oauth2/revoke", url.Values{"client_id": {h.app.ID}, "token": {k["grant"]}})
	}, []string{"grant"}, nobody},
	{"refresh token used twice", access.RefreshReused, func(h *house, _ keys) {
		h.refreshes("grant")
		h.Clock.SetOffset(31 * time.Second)
		require.False(h.t, h.refreshes("grant"))
	}, []string{"grant"}, []string{here}},
	{"code used twice", access.CodeReused, func(h *house, _ keys) { h.replayCode() }, []string{"grant"}, []string{here}},
	{"another session in the browser", access.Replaced, func(h *house, _ keys) {
		h.browser().submit("/login", "", url.Values{"user": {h.person.ID}})
	}, []string{"session", "session's grant"}, nobody},
	{"another account in the browser", access.Replaced, func(h *house, _ keys) {
		h.browser().submit("/signin?return=/account&as=other", "", url.Values{"email": {h.colleague.Email}, "password": {plain}})
	}, []string{"sign-in"}, nobody},
}

// Whatever ends access ends all of it, at once and for those who have remembered it, tells the applications, and leaves the
// rest alone.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			testkit.Each(t, func(t *testing.T, w *testkit.World) {
				h := open(t, w)
				h.furnish()
				k := h.collect()
				require.ElementsMatch(t, all, h.alive(k)) // and they are remembered from here on
				way.do(h, k)
				require.ElementsMatch(t, without(all, way.ends), h.alive(k))
				require.ElementsMatch(t, way.told, h.told())
				for _, name := range []string{"grant", "grant in B", "other grant", "colleague's grant"} {
					if name != "grant" || way.why != access.RefreshReused { // which has used it up
						require.Equal(t, !slices.Contains(way.ends, name), h.refreshes(name), "the refresh token of %s", name)
					}
				}
			})
		})
	}
}

// No reason is left out of the table.
func TestEveryReasonHasItsWay(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "end.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	found := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Reason" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		found++
		require.True(t, slices.ContainsFunc(ways, func(w struct {
			name string
			why  access.Reason
			do   func(h *house, k keys)
			ends []string
			told []string
		}) bool {
			return w.why == access.Reason(text)
		}), "%s has no row", spec.Names[0].Name)
		return true
	})
	require.Greater(t, found, 10)
}

// An empty id names nothing, least of all the sessions that have none.
func TestEmptyScopesEndNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w)
		h.furnish()
		k := h.collect()
		for _, s := range []access.Scope{
			{}, access.User(""), access.Account(""), access.SignIns(""), access.SignIn(""), access.Session(&ent.Session{}), access.Grant(""), access.Client(""),
			access.SignIn("").InCompany(w.A.Company.ID), access.Account("").Except("sgn_x"), access.Account("").PagesOnly(),
		} {
			h.change(func(ctx context.Context, tx *store.Tx) {
				_, err := access.End(ctx, access.In(tx, nil), s, access.SignedOut)
				require.NoError(t, err)
			})
		}
		require.ElementsMatch(t, all, h.alive(k))
	})
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// refreshes reports whether the grant's refresh token gives new tokens; it is used up then.
func (h *house) refreshes(grant string) bool {
	client := h.app.ID
	if grant == "grant in B" {
		client = h.appInB.ID
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"refresh " + grant}, "client_id": {client}}
	res, err := h.srv.Client().PostForm(origin+"/oauth2/token", form)
	require.NoError(h.t, err)
	require.NoError(h.t, res.Body.Close())
	return res.StatusCode == http.StatusOK
}

// enrol gives the account a second factor.
func (h *house) enrol() {
	h.change(func(ctx context.Context, tx *store.Tx) {
		tx.Factor.Create().SetAccountID(h.person.AccountID).SetKind(factor.KindTotp).SetName("App").SetSecretSealed([]byte("sealed")).ExecX(ctx)
		tx.User.UpdateOneID(h.person.ID).SetMfaEnabled(true).ExecX(ctx)
	})
}

// resetMFA is the operator's, as the person is a member of two companies.
func (h *house) resetMFA() {
	ctx := principal.With(context.Background(), principal.Operator(h.A.Company.ID, "test"))
	testkit.Run(h.t, h.World, ctx, signin.ResetMFA, op.ByID{ID: h.person.ID})
}

// mailedLink returns the token of a link to set a new password by, which is made at the first call.
func (h *house) mailedLink() string {
	value, _, hash := secret("link")
	n, err := h.Store.Reader().MailedLink.Query().Where(mailedlink.TokenHash(hash)).Count(h.system())
	require.NoError(h.t, err)
	if n == 0 {
		h.change(func(ctx context.Context, tx *store.Tx) {
			tx.MailedLink.Create().SetKind(mailedlink.KindPasswordReset).SetTokenHash(hash).SetAccountID(h.person.AccountID).
				SetExpiresAt(h.Clock.Now().Add(time.Hour)).ExecX(ctx)
		})
	}
	return value
}

// replayCode redeems the code that the person's grant came from once more.
func (h *house) replayCode() {
	h.change(func(ctx context.Context, tx *store.Tx) {
		tx.AuthRequest.Create().SetClientID(h.app.ID).SetRedirectURI("https://app.test/cb").SetScopes([]string{"openid"}).SetCodeChallenge("x").
			SetDone(true).SetSignInID(h.rows["sign-in"]).SetTenantID(h.A.Company.ID).SetUserID(h.person.ID).SetCodeHash(identity.HashOf("code")).
			SetCodeUsedAt(h.Clock.Now()).SetGrantID(h.rows["grant"]).SetExpiresAt(h.Clock.Now().Add(time.Hour)).ExecX(ctx)
	})
	res, err := h.srv.Client().PostForm(origin+"/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {"code"}, "client_id": {h.app.ID}, "redirect_uri": {"https://app.test/cb"}, "code_verifier": {"x"},
	})
	require.NoError(h.t, err)
	require.NoError(h.t, res.Body.Close())
	require.Equal(h.t, http.StatusBadRequest, res.StatusCode)
}
