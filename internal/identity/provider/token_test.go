package provider_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/authrequest"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A code is valid only with its client, redirect URI and verifier, so a stolen code is worthless (code injection).
func TestCodeIsBound(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		other := s.register(identity.CreateClientInput{Name: "Other", RedirectURIs: []string{callback}}).ID
		code := s.code(nil)
		for name, with := range map[string]url.Values{
			"another client":             {"client_id": {other}},
			"the web application":        {"client_id": {"atrium-web"}},
			"another redirect URI":       {"redirect_uri": {"https://app.test/cb"}},
			"another verifier":           {"code_verifier": {strings.Replace(verifier, "a", "b", 1)}},
			"the challenge for verifier": {"code_verifier": {oauth2.S256ChallengeFromVerifier(verifier)}},
			"no verifier (a downgrade)":  {"code_verifier": nil},
			"a short verifier":           {"code_verifier": {"short"}},
			"a long verifier":            {"code_verifier": {strings.Repeat("v", 129)}},
			"another code":               {"code": {code + "x"}},
		} {
			r := s.exchange(code, with)
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
			require.Equal(t, "invalid_grant", r.errorCode(t), name)
		}
		for name, with := range map[string]url.Values{
			"no redirect URI": {"redirect_uri": nil}, "no code": {"code": nil}, "two codes": {"code": {code, code}}, "no grant type": {"grant_type": nil},
			"two verifiers": {"code_verifier": {verifier, "x"}}, "NUL": {"code": {"\x00"}},
		} {
			r := s.exchange(code, with)
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
			require.Equal(t, "invalid_request", r.errorCode(t), name)
		}
		for _, kind := range []string{"password", "client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange", "urn:ietf:params:oauth:grant-type:device_code"} {
			r := s.exchange(code, url.Values{"grant_type": {kind}, "assertion": {"a.b.c"}, "subject_token": {"a"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:jwt"}, "device_code": {"d"}})
			require.Contains(t, []any{"unsupported_grant_type", "unauthorized_client"}, r.errorCode(t), kind)
			require.Equal(t, http.StatusBadRequest, r.StatusCode, kind)
		}
		require.Equal(t, http.StatusOK, s.exchange(code, nil).StatusCode, "none of that used it up")
	})
}

// A code is valid for one minute.
func TestCodeExpires(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		s.Clock.SetOffset(time.Minute)
		require.Equal(t, "invalid_grant", s.exchange(code, nil).errorCode(t))
	})
}

// A second use of a code gives no tokens and revokes those of the first use, no matter who sends it and how late.
func TestCodeReplay(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		first := tokensOf(t, s.exchange(code, nil))
		require.Equal(t, http.StatusOK, s.userinfo(first.access).StatusCode)
		s.Clock.SetOffset(2 * time.Minute)
		require.Equal(t, "invalid_grant", s.exchange(code, nil).errorCode(t))
		require.Equal(t, http.StatusUnauthorized, s.userinfo(first.access).StatusCode)
		require.Equal(t, "invalid_grant", s.refresh(first.refresh).errorCode(t))
		require.Equal(t, "invalid_grant", s.exchange(code, nil).errorCode(t), "and again")
	})
}

// Grants, and their revocation after a reuse, are in the company's audit log.
func TestGrantsAreAudited(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		tokens := tokensOf(t, s.exchange(code, nil))
		s.exchange(code, nil)
		s.exchange(code, nil)
		again := s.granted(nil)
		s.refresh(again.refresh)
		s.Clock.SetOffset(31 * time.Second)
		s.refresh(again.refresh)
		rows, err := s.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceType("Grant")).Order(auditentry.ByID()).All(s.As(s.A, principal.Owner))
		require.NoError(t, err)
		c, err := s.tokens.Verify(t.Context(), tokens.access)
		require.NoError(t, err)
		var got []string
		for _, e := range rows {
			got = append(got, strings.Join([]string{e.Action, string(e.Outcome), e.ActorType}, " "))
			require.Equal(t, "127.0.0.1", e.IP)
			require.NotEmpty(t, e.UserAgent)
			require.Contains(t, string(e.Changes), s.public.ID)
		}
		require.Equal(t, []string{"grant.created allowed user", "grant.revoked denied system", "grant.created allowed user", "grant.revoked denied system"}, got)
		require.Equal(t, s.person.ID, rows[0].ActorID)
		require.Equal(t, []string{c.Grant, c.Grant}, []string{*rows[0].ResourceID, *rows[1].ResourceID})
		require.Contains(t, string(rows[1].Changes), "code was used twice")
		require.Contains(t, string(rows[3].Changes), "refresh token was used twice")
	})
}

// When a code is redeemed several times at once, one caller gets tokens.
func TestCodeRace(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		won := s.atOnce(func() reply { return s.exchange(code, nil) })
		require.Len(t, won, 1)
		n, err := s.Store.Reader().Grant.Query().Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, http.StatusUnauthorized, s.userinfo(won[0].access).StatusCode, "the others were replays")
	})
}

// atOnce sends a token request several times at once and returns the tokens of those that succeeded. All others must fail with
// invalid_grant.
func (s *idp) atOnce(send func() reply) []granted {
	s.t.Helper()
	replies := make([]reply, 6)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = send() })
	}
	wg.Wait()
	var won []granted
	for _, r := range replies {
		if r.StatusCode == http.StatusOK {
			won = append(won, tokensOf(s.t, r))
			continue
		}
		require.Equal(s.t, "invalid_grant", r.errorCode(s.t))
	}
	return won
}

// A refresh token that comes again after its successor was used revokes all tokens of its grant.
func TestRefreshReuseKillsFamily(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		first := s.granted(nil)
		second := tokensOf(t, s.refresh(first.refresh))
		third := tokensOf(t, s.refresh(second.refresh))
		require.Equal(t, http.StatusOK, s.userinfo(third.access).StatusCode)
		require.Equal(t, "invalid_grant", s.refresh(first.refresh).errorCode(t))
		for _, g := range []granted{first, second, third} {
			require.Equal(t, http.StatusUnauthorized, s.userinfo(g.access).StatusCode)
			require.Equal(t, "invalid_grant", s.refresh(g.refresh).errorCode(t))
		}
	})
}

// When a refresh token is used several times at once, as by two tabs, each caller gets tokens of the same grant. The same holds for half
// a minute, for a client that lost the answer.
func TestRefreshRace(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		first := s.granted(nil)
		won := s.atOnce(func() reply { return s.refresh(first.refresh) })
		require.Len(t, won, 6)
		s.Clock.SetOffset(29 * time.Second)
		won = append(won, tokensOf(t, s.refresh(first.refresh)))
		for _, g := range won {
			require.Equal(t, http.StatusOK, s.userinfo(g.access).StatusCode)
		}
		grants, err := s.Store.Reader().Grant.Query().Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, grants)
		second := tokensOf(t, s.refresh(won[0].refresh))
		require.Equal(t, http.StatusOK, s.userinfo(second.access).StatusCode)
		tokensOf(t, s.refresh(won[1].refresh)) // the other tab goes on with its own
	})
}

// A used refresh token that comes half a minute later revokes all tokens of its grant, although nobody has used the next one.
func TestRefreshReuseLater(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		first := s.granted(nil)
		second := tokensOf(t, s.refresh(first.refresh))
		s.Clock.SetOffset(31 * time.Second)
		require.Equal(t, "invalid_grant", s.refresh(first.refresh).errorCode(t))
		require.Equal(t, "invalid_grant", s.refresh(second.refresh).errorCode(t))
		require.Equal(t, http.StatusUnauthorized, s.userinfo(second.access).StatusCode)
	})
}

// Refresh tokens are bound to their client and expire 30 days after their last use. Scopes can be narrowed, not widened.
func TestRefresh(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		first := s.granted(nil)
		other := s.register(identity.CreateClientInput{Name: "Other", RedirectURIs: []string{callback}}).ID
		require.Equal(t, "invalid_grant", s.refresh(first.refresh, "client_id", other).errorCode(t))
		require.Equal(t, "invalid_grant", s.refresh(first.access).errorCode(t), "an access token is none")
		require.Equal(t, "invalid_grant", s.refresh("nonsense").errorCode(t))
		require.Equal(t, "invalid_scope", s.refresh(first.refresh, "scope", "openid services:write").errorCode(t))
		require.Equal(t, "invalid_scope", s.refresh(first.refresh, "scope", "openid").errorCode(t), "a token without a scope of the API would act with all of the client's")

		s.Clock.SetOffset(29 * 24 * time.Hour)
		r := s.refresh(first.refresh, "scope", "services:read")
		second := tokensOf(t, r)
		require.Equal(t, "services:read", r.json(t)["scope"])
		c, err := s.tokens.Verify(t.Context(), second.access)
		require.NoError(t, err)
		require.Equal(t, "services:read", c.Scope)
		s.Clock.SetOffset(58 * 24 * time.Hour)
		r = s.refresh(second.refresh)
		require.Equal(t, "openid profile email offline_access services:read", r.json(t)["scope"], "narrowed for one token only")
		third := tokensOf(t, r)
		s.Clock.SetOffset(88 * 24 * time.Hour)
		require.Equal(t, "invalid_grant", s.refresh(third.refresh).errorCode(t))
	})
}

// A person who may no longer sign in, or has signed out, gets no more tokens, and tokens already issued become invalid.
func TestPersonIsOver(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		tokens, backend, waiting := s.granted(nil), s.backend(), s.code(nil)
		require.Equal(t, true, s.introspect(backend.access)["active"])
		require.Equal(t, true, s.introspect(backend.refresh)["active"])
		over := func(tokens granted) {
			t.Helper()
			require.Equal(t, "invalid_grant", s.exchange(waiting, nil).errorCode(t))
			require.Equal(t, "invalid_grant", s.refresh(tokens.refresh).errorCode(t))
			require.Equal(t, http.StatusUnauthorized, s.userinfo(tokens.access).StatusCode)
			require.Equal(t, map[string]any{"active": false}, s.introspect(backend.access))
			require.Equal(t, map[string]any{"active": false}, s.introspect(backend.refresh))
		}
		set := func(change func(*ent.UserUpdate) *ent.UserUpdate) {
			s.change(func(ctx context.Context, tx *store.Tx) error {
				return change(tx.User.Update().Where(user.ID(s.person.ID))).Exec(ctx)
			})
		}
		set(func(u *ent.UserUpdate) *ent.UserUpdate { return u.SetStatus(user.StatusDeactivated) })
		over(tokens)
		set(func(u *ent.UserUpdate) *ent.UserUpdate { return u.SetStatus(user.StatusActive) })
		require.Equal(t, http.StatusOK, s.userinfo(tokens.access).StatusCode, "back again")
		tokens = tokensOf(t, s.refresh(tokens.refresh))

		set(func(u *ent.UserUpdate) *ent.UserUpdate { return u.SetSignedOutAt(s.Clock.Now()) })
		over(tokens)
		s.Clock.SetOffset(time.Second)
		require.Equal(t, http.StatusOK, s.userinfo(s.granted(nil).access).StatusCode, "signed in anew")
	})
}

// backend returns tokens of the confidential client.
func (s *idp) backend() granted {
	s.t.Helper()
	r := s.exchange(s.code(url.Values{"client_id": {s.confidential.ID}}), url.Values{"client_id": nil}, basic(s.confidential.ID, s.confidential.Secret))
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return tokensOf(s.t, r)
}

// When a sign-in ends after its code was issued, the code is no longer valid.
func TestSignInEndsBeforeTheCodeIsRedeemed(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		row, err := s.Store.Reader().AuthRequest.Query().Where(authrequest.Done(true)).Only(s.system())
		require.NoError(t, err)
		require.NoError(t, s.p.EndSignIn(t.Context(), *row.SignInID))
		require.Equal(t, "invalid_grant", s.exchange(code, nil).errorCode(t))
	})
}

// A deleted client is unknown, and its tokens are invalid.
func TestClientIsDeleted(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		tokens, code := s.granted(nil), s.code(nil)
		testkit.Run(t, s.World, s.As(s.A, principal.Owner), identity.DeleteClient, op.ByID{ID: s.public.ID})
		for _, r := range []reply{s.refresh(tokens.refresh), s.exchange(code, nil)} {
			require.Equal(t, http.StatusUnauthorized, r.StatusCode)
			require.Equal(t, "invalid_client", r.errorCode(t))
		}
		require.Equal(t, http.StatusUnauthorized, s.userinfo(tokens.access).StatusCode)
		require.Equal(t, http.StatusBadRequest, s.get(s.browser(), s.authorizeURL(nil)).StatusCode)
	})
}

// Revoking any token of a grant ends all of them, and the web session made from the grant. A client cannot revoke tokens of
// another client.
func TestRevocation(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		revoke := func(token string, with ...string) reply {
			form := url.Values{"token": {token}, "client_id": {s.public.ID}}
			for i := 0; i < len(with); i += 2 {
				form.Set(with[i], with[i+1])
			}
			return s.post("/oauth2/revoke", form)
		}
		for _, pick := range []func(granted) string{
			func(g granted) string { return g.access }, func(g granted) string { return g.refresh },
		} {
			tokens := s.granted(nil)
			c, err := s.tokens.Verify(t.Context(), tokens.access)
			require.NoError(t, err)
			s.change(func(ctx context.Context, tx *store.Tx) error {
				now := s.Clock.Now()
				return tx.Session.Create().SetCompanyID(c.Company).SetUserID(c.Subject).SetGrantID(c.Grant).SetTokenHash([]byte(c.Grant)).
					SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).Exec(ctx)
			})
			r := revoke(pick(tokens), "client_id", s.narrowClient())
			require.Equal(t, "invalid_grant", r.errorCode(t), "issued to another client")
			require.Equal(t, http.StatusOK, s.userinfo(tokens.access).StatusCode)

			require.Equal(t, http.StatusOK, revoke(pick(tokens)).StatusCode)
			require.Equal(t, http.StatusUnauthorized, s.userinfo(tokens.access).StatusCode)
			require.Equal(t, "invalid_grant", s.refresh(tokens.refresh).errorCode(t))
			require.Equal(t, http.StatusOK, revoke(pick(tokens)).StatusCode, "again")
			row, err := s.Store.Reader().Session.Query().Where(session.GrantID(c.Grant)).Only(s.system())
			require.NoError(t, err)
			require.NotNil(t, row.EndedAt)
		}
		used := s.granted(nil)
		next := tokensOf(t, s.refresh(used.refresh))
		require.Equal(t, http.StatusOK, revoke(used.refresh).StatusCode)
		require.Equal(t, "invalid_grant", s.refresh(next.refresh).errorCode(t))

		require.Equal(t, http.StatusOK, revoke("nonsense").StatusCode, "not valid any more is no error")
		require.Equal(t, http.StatusOK, revoke("nonsense", "token_type_hint", "whatever").StatusCode)
		require.Equal(t, http.StatusBadRequest, revoke("").StatusCode)
		require.Equal(t, http.StatusUnauthorized, revoke("x", "client_id", s.confidential.ID).StatusCode)
	})
}

// A confidential client can introspect its own tokens. Those of others are reported as not active.
func TestIntrospection(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		own, foreign := s.backend(), s.granted(nil)
		m := s.introspect(own.access)
		require.Equal(t, []any{true, s.confidential.ID, s.person.ID, "Bearer", s.issuer, s.person.Email},
			[]any{m["active"], m["client_id"], m["sub"], m["token_type"], m["iss"], m["username"]})
		require.Equal(t, "openid profile email offline_access services:read", m["scope"])
		require.InDelta(t, float64(s.Clock.Now().Add(5*time.Minute).Unix()), m["exp"], 3)
		require.Equal(t, []any{"pwd", "otp", "mfa"}, m["amr"])
		m = s.introspect(own.refresh)
		require.Equal(t, []any{true, "refresh_token"}, []any{m["active"], m["token_type"]})
		for name, token := range map[string]string{
			"another client's access token": foreign.access, "another client's refresh token": foreign.refresh, "an ID token": own.id, "nonsense": "nonsense",
		} {
			require.Equal(t, map[string]any{"active": false}, s.introspect(token), name)
		}
		for name, r := range map[string]reply{
			"a public client": s.post("/oauth2/introspect", url.Values{"token": {foreign.access}, "client_id": {s.public.ID}}),
			"with a guess":    s.post("/oauth2/introspect", url.Values{"token": {foreign.access}, "client_id": {s.public.ID}, "client_secret": {"x"}}),
			"no secret":       s.post("/oauth2/introspect", url.Values{"token": {own.access}, "client_id": {s.confidential.ID}}),
			"a wrong secret":  s.post("/oauth2/introspect", url.Values{"token": {own.access}}, basic(s.confidential.ID, "wrong")),
			"by a token":      s.post("/oauth2/introspect", url.Values{"token": {own.access}}, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+own.access) }),
		} {
			require.Equal(t, http.StatusUnauthorized, r.StatusCode, name)
			require.Equal(t, "invalid_client", r.errorCode(t), name)
		}
		require.Equal(t, http.StatusBadRequest, s.post("/oauth2/introspect", nil, basic(s.confidential.ID, s.confidential.Secret)).StatusCode, "no token")
		require.Equal(t, http.StatusOK, s.post("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {own.refresh}}, basic(s.confidential.ID, s.confidential.Secret)).StatusCode)
		require.Equal(t, map[string]any{"active": false}, s.introspect(own.refresh), "used")
	})
}

// Programs must post their parameters in the body, because query strings end up in logs.
func TestFormsOnly(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		for _, path := range []string{"/oauth2/token", "/oauth2/revoke", "/oauth2/introspect"} {
			form := url.Values{"client_id": {s.confidential.ID}, "client_secret": {s.confidential.Secret}, "token": {"t"}, "grant_type": {"refresh_token"}, "refresh_token": {"t"}}
			r := s.get(s.srv.Client(), s.issuer+path+"?"+form.Encode())
			require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
			require.Equal(t, "POST", r.Header.Get("Allow"))
			for name, r := range map[string]reply{
				"in the address": s.post(path+"?"+form.Encode(), nil),
				"half and half":  s.post(path+"?client_id="+s.confidential.ID, form),
				"JSON":           s.post(path, form, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }),
				"no kind":        s.post(path, form, func(r *http.Request) { r.Header.Del("Content-Type") }),
				"too much":       s.post(path, url.Values{"token": {strings.Repeat("x", 65<<10)}, "client_id": {"c"}}),
			} {
				require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
				require.Equal(t, "invalid_request", r.errorCode(t), name)
				require.Equal(t, "no-store", r.Header.Get("Cache-Control"), name)
			}
		}
	})
}

// Secrets are stored as hashes: no secret of a client can be read from the database.
func TestOnlyHashesAreKept(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		code := s.code(nil)
		tokens := tokensOf(t, s.exchange(code, nil))
		request, err := s.Store.Reader().AuthRequest.Query().Where(authrequest.CodeUsedAtNotNil()).Only(s.system())
		require.NoError(t, err)
		require.Equal(t, sha(code), *request.CodeHash)
		rows, err := s.Store.Reader().RefreshToken.Query().WithGrant().All(s.system())
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, sha(tokens.refresh), rows[0].Hash)
		require.NotContains(t, rows[0].Edges.Grant.String()+rows[0].String()+request.String(), tokens.refresh)
	})
}
