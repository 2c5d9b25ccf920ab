package issuer_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/identity/issuer"
	"atrium/internal/platform/clock"
	"atrium/internal/test/testkit/testissuer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trusted returns an issuer, an installation's view of it with the options changed, and the clock of both.
func trusted(t *testing.T, change func(*issuer.Options)) (*testissuer.Issuer, *issuer.Issuer, *clock.Clock) {
	t.Helper()
	c := &clock.Clock{}
	remote := testissuer.New(t)
	remote.Now = c.Now
	o := issuer.Options{Issuer: remote.URL, Audience: testissuer.Audience, ClientID: testissuer.ClientID, Transport: remote.Transport}
	if change != nil {
		change(&o)
	}
	i, err := issuer.New(o, c.Now)
	require.NoError(t, err)
	return remote, i, c
}

// accepts reports whether the token is accepted; an error other than ErrToken fails the test.
func accepts(t *testing.T, i *issuer.Issuer, token string) bool {
	t.Helper()
	_, err := i.AccessToken(context.Background(), token)
	if err != nil {
		require.ErrorIs(t, err, issuer.ErrToken)
	}
	return err == nil
}

const soon = 5 * time.Minute

// answering is a transport that always gives the same answer.
func answering(status int, body string) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{"Content-Type": {"application/json"}, "Location": {"https://evil.test/"}},
		}, nil
	})
}
