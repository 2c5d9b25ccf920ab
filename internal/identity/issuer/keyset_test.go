package issuer_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"atrium/internal/identity/issuer"
	"atrium/internal/test/testkit/testissuer"
)

// However many tokens name unknown keys, the issuer is asked for its keys once in ten seconds. Its genuine tokens are accepted
// meanwhile.
func TestUnknownKeysDoNotFloodTheIssuer(t *testing.T) {
	t.Parallel()
	remote, i, c := trusted(t, nil)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	good := remote.Token(t, nil)
	flood := func() {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for m := range 50 {
					token := testissuer.Sign(t, jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: fmt.Sprint(n, m)}}, "",
						testissuer.Claims{"iss": remote.URL, "aud": testissuer.Audience, "sub": "s", "exp": c.Now().Add(time.Hour).Unix()})
					if _, err := i.AccessToken(context.Background(), token); err == nil {
						t.Error("a token of an unknown key passed")
					}
					if _, err := i.AccessToken(context.Background(), good); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	flood()
	require.Equal(t, 1, remote.Asked("/keys"), "800 tokens")
	c.SetOffset(11 * time.Second)
	flood()
	require.Equal(t, 2, remote.Asked("/keys"))
	require.Equal(t, 1, remote.Asked("/.well-known/openid-configuration"))
}

// A new key is accepted as soon as a token names it, unless the keys have just been read. A withdrawn key is refused once the
// keys are read again, which is after at most ten minutes.
func TestRotation(t *testing.T) {
	t.Parallel()
	remote, i, c := trusted(t, nil)
	old := remote.Token(t, testissuer.Claims{"exp": c.Now().Add(time.Hour).Unix()})
	require.True(t, accepts(t, i, old))
	remote.Rotate(t)
	require.False(t, accepts(t, i, remote.Token(t, nil)), "asked a moment ago")
	require.True(t, accepts(t, i, old))
	c.SetOffset(11 * time.Second)
	require.True(t, accepts(t, i, remote.Token(t, nil)))
	require.False(t, accepts(t, i, old))

	withdrawn := remote.Token(t, testissuer.Claims{"exp": c.Now().Add(time.Hour).Unix()})
	remote.Rotate(t)
	require.True(t, accepts(t, i, withdrawn))
	c.SetOffset(11 * time.Minute)
	require.False(t, accepts(t, i, withdrawn))
}

// If the issuer is down at the start, it is called again later. If it goes down later, its keys remain valid for a day.
func TestIssuerThatIsDown(t *testing.T) {
	t.Parallel()
	remote, i, c := trusted(t, nil)
	down := func(d bool) { remote.Set(func(s *testissuer.Settings) { s.Down = d }) }
	token := remote.Token(t, testissuer.Claims{"exp": c.Now().Add(100 * time.Hour).Unix()})
	unavailable := func() {
		t.Helper()
		_, err := i.AccessToken(t.Context(), token)
		require.ErrorIs(t, err, issuer.ErrUnavailable)
		require.NotErrorIs(t, err, issuer.ErrToken, "nobody knows")
	}
	down(true)
	for range 20 {
		unavailable()
	}
	require.Equal(t, 1, remote.Asked("/.well-known/openid-configuration"))
	down(false)
	unavailable()
	c.SetOffset(11 * time.Second)
	require.True(t, accepts(t, i, token))

	down(true)
	for hours := 1; hours <= 23; hours++ {
		c.SetOffset(time.Duration(hours) * time.Hour)
		for range 20 {
			require.True(t, accepts(t, i, token))
		}
	}
	require.LessOrEqual(t, remote.Asked("/keys"), 1+2*23, "at most one attempt a moment")
	c.SetOffset(25 * time.Hour)
	unavailable()
	down(false)
	c.SetOffset(26 * time.Hour)
	require.True(t, accepts(t, i, token))
}

// transport answers as the test says.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// When a caller leaves during the call to the issuer, this does not count as an attempt: the next caller asks again.
func TestCallerWhoLeaves(t *testing.T) {
	t.Parallel()
	var remote *testissuer.Issuer
	ctx, leave := context.WithCancel(t.Context())
	hangs := true
	remote, i, _ := trusted(t, func(o *issuer.Options) {
		next := o.Transport
		o.Transport = transport(func(r *http.Request) (*http.Response, error) {
			if !hangs {
				return next.RoundTrip(r)
			}
			_, limited := r.Context().Deadline()
			require.True(t, limited, "every call has an end")
			leave()
			<-r.Context().Done()
			return nil, errors.New("gone")
		})
	})
	_, err := i.AccessToken(ctx, remote.Token(t, nil))
	require.ErrorIs(t, err, issuer.ErrUnavailable)
	hangs = false
	require.True(t, accepts(t, i, remote.Token(t, nil)))
}

// Metadata that name another issuer, plain HTTP addresses and redirects are refused.
func TestMetadataIsNotBelievedBlindly(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another issuer": `{"issuer": "https://evil.test", "authorization_endpoint": "https://e.test", "token_endpoint": "https://e.test", "jwks_uri": "https://e.test"}`,
		"plain HTTP":     `{"issuer": "https://idp.test", "authorization_endpoint": "https://e.test", "token_endpoint": "http://e.test", "jwks_uri": "https://e.test"}`,
		"plain userinfo": `{"issuer": "https://idp.test", "authorization_endpoint": "https://e.test", "token_endpoint": "https://e.test", "jwks_uri": "https://e.test", "userinfo_endpoint": "http://e.test"}`,
		"plain logout":   `{"issuer": "https://idp.test", "authorization_endpoint": "https://e.test", "token_endpoint": "https://e.test", "jwks_uri": "https://e.test", "end_session_endpoint": "http://e.test"}`,
		"no keys":        `{"issuer": "https://idp.test", "authorization_endpoint": "https://e.test", "token_endpoint": "https://e.test"}`,
		"no JSON":        `hello`,
	} {
		r := issuer.NewRemote("https://idp.test", nil, answering(http.StatusOK, body), time.Now)
		_, err := r.Metadata(t.Context())
		require.ErrorIs(t, err, issuer.ErrUnavailable, name)
	}
	r := issuer.NewRemote("https://idp.test", nil, answering(http.StatusFound, ""), time.Now)
	_, err := r.Metadata(t.Context())
	require.ErrorIs(t, err, issuer.ErrUnavailable, "redirected")
}
