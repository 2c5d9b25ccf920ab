package provider_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/identity/provider"
	"atrium/internal/platform/egress"
)

// receiver is the server of a client that receives logout tokens.
type receiver struct {
	*httptest.Server
	tokens chan string
	status atomic.Int64
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{tokens: make(chan string, 10)}
	r.status.Store(http.StatusOK)
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.tokens <- req.PostFormValue("logout_token")
		w.WriteHeader(int(r.status.Load()))
	}))
	t.Cleanup(func() {
		r.Client().CloseIdleConnections()
		r.Close()
	})
	return r
}

// work runs jobs, which call clients with the given HTTP client, until the test ends.
func (s *idp) work(calls *http.Client) {
	s.t.Helper()
	s.WorkJobs(s.t, provider.Logouts(s.Store, s.keys, s.issuer, calls))
}

// hears registers a client with the receiver as its logout URI, signs the person in for it, and signs the person out again.
func (s *idp) hears(r *receiver) (clientID string, tokens granted) {
	s.t.Helper()
	uri := r.URL + "/logout?x=1"
	clientID = s.register(identity.CreateClientInput{Name: "Hears", RedirectURIs: []string{callback}, BackchannelLogoutURI: &uri}).ID
	out := s.exchange(s.code(url.Values{"client_id": {clientID}}), url.Values{"client_id": {clientID}})
	tokens = tokensOf(s.t, out)
	require.NotEmpty(s.t, tokens.id, out.body)
	require.Equal(s.t, http.StatusOK, s.get(s.browser(), s.endSessionURL(url.Values{"id_token_hint": {tokens.id}})).StatusCode)
	return clientID, tokens
}

// jobStates returns the states of the jobs that deliver logout notices.
func (s *idp) jobStates() []string {
	s.t.Helper()
	return s.Query(s.t, "SELECT CAST(state AS TEXT) FROM river_job WHERE kind = 'backchannel_logout'")
}

// A company whose clients hang has two calls under way on a node, so that others' jobs go on. The rest come again, and none is lost.
func TestBackchannelLogoutSharesWorkers(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		var under, most, all atomic.Int32
		answer := make(chan struct{})
		r := &receiver{Server: httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			n := under.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-answer
			under.Add(-1)
			all.Add(1)
		}))}
		t.Cleanup(r.Close)
		for range 4 {
			s.hears(r)
		}
		s.work(r.Client())
		require.Eventually(t, func() bool { return under.Load() >= 2 }, 30*time.Second, 10*time.Millisecond)
		require.Eventually(t, func() bool {
			return len(slices.DeleteFunc(s.jobStates(), func(state string) bool { return state == "running" })) == 2
		},
			30*time.Second, 10*time.Millisecond, "the others do not wait in a worker")
		close(answer)
		require.Eventually(t, func() bool { return all.Load() == 4 }, time.Minute, 20*time.Millisecond)
		require.EqualValues(t, 2, most.Load())
	})
}

// Clients that registered a logout URI receive a logout token, which is not accepted as any other kind of token. If a client is
// down, the delivery is retried.
func TestBackchannelLogout(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		r := receive(t)
		r.status.Store(http.StatusServiceUnavailable)
		s.work(r.Client())
		clientID, tokens := s.hears(r)
		<-r.tokens
		r.status.Store(http.StatusNoContent)
		var token string
		select {
		case token = <-r.tokens:
		case <-time.After(40 * time.Second):
			t.Fatal("the client was not told again")
		}
		meta, err := oidc.NewProvider(s.ctx(), s.issuer)
		require.NoError(t, err)
		verified, err := meta.Verifier(&oidc.Config{ClientID: clientID, Now: s.Clock.Now}).Verify(s.ctx(), token)
		require.NoError(t, err)
		var claims struct {
			SID    string                    `json:"sid"`
			Events map[string]map[string]any `json:"events"`
			Nonce  *string                   `json:"nonce"`
			JTI    string                    `json:"jti"`
		}
		require.NoError(t, verified.Claims(&claims))
		require.Equal(t, s.person.ID, verified.Subject)
		require.Contains(t, claims.Events, "http://schemas.openid.net/event/backchannel-logout")
		require.Nil(t, claims.Nonce)
		require.NotEmpty(t, claims.JTI)
		first, err := meta.Verifier(&oidc.Config{ClientID: clientID, Now: s.Clock.Now}).Verify(s.ctx(), tokens.id)
		require.NoError(t, err)
		var signIn struct {
			SID string `json:"sid"`
		}
		require.NoError(t, first.Claims(&signIn))
		require.Equal(t, signIn.SID, claims.SID)
		parsed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
		require.NoError(t, err)
		require.Equal(t, "logout+jwt", parsed.Signatures[0].Header.ExtraHeaders[jose.HeaderType])

		require.Equal(t, http.StatusUnauthorized, s.userinfo(token).StatusCode)
		require.Equal(t, http.StatusBadRequest, s.get(s.browser(), s.endSessionURL(url.Values{"id_token_hint": {token}})).StatusCode)
		require.Eventually(t, func() bool { return slices.Contains(s.jobStates(), "completed") }, 20*time.Second, 20*time.Millisecond)
	})
}

// A client that refuses the token with 400 does not receive it again.
func TestBackchannelLogoutRefused(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		r := receive(t)
		r.status.Store(http.StatusBadRequest)
		s.work(r.Client())
		s.hears(r)
		require.Eventually(t, func() bool { return slices.Contains(s.jobStates(), "cancelled") }, 20*time.Second, 20*time.Millisecond)
		require.Len(t, r.tokens, 1)
	})
}

// The egress guard refuses addresses of the operator's own networks, whatever a company registers.
func TestBackchannelLogoutStaysOutside(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		r := receive(t)
		out, err := egress.New(egress.Options{})
		require.NoError(t, err)
		s.work(out.HTTP())
		s.hears(r) // listens on a loopback address
		require.Eventually(t, func() bool { return slices.Contains(s.jobStates(), "retryable") }, 20*time.Second, 20*time.Millisecond)
		require.Empty(t, r.tokens)
	})
}

// Clients without a logout URI, and the web application, which has no row, cause no job.
func TestNoJobForSilentClients(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		_, tokens := s.signedInBrowser()
		require.Equal(t, http.StatusOK, s.get(s.browser(), s.endSessionURL(url.Values{"id_token_hint": {tokens.id}})).StatusCode)
		require.False(t, s.alive(tokens))
		require.Empty(t, s.jobStates())
	})
}
