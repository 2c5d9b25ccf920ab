package gate_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
)

func TestReadBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    string
		headers []string
		length  int64
		want    apperr.Code
	}{
		"good":           {body: "{}", headers: []string{"Content-Type", "application/json; charset=UTF-8"}},
		"no type":        {body: "{}", want: apperr.UnsupportedMediaType},
		"a form":         {body: "a=b", headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, want: apperr.UnsupportedMediaType},
		"other charset":  {body: "{}", headers: []string{"Content-Type", "application/json; charset=latin1"}, want: apperr.UnsupportedMediaType},
		"compressed":     {body: "{}", headers: []string{"Content-Type", "application/json", "Content-Encoding", "gzip"}, want: apperr.UnsupportedMediaType},
		"too large":      {body: strings.Repeat(" ", gate.MaxBody+1), headers: []string{"Content-Type", "application/json"}, want: apperr.PayloadTooLarge},
		"large unsaid":   {body: strings.Repeat(" ", gate.MaxBody+1), length: -1, headers: []string{"Content-Type", "application/json"}, want: apperr.PayloadTooLarge},
		"just fits":      {body: strings.Repeat(" ", gate.MaxBody), headers: []string{"Content-Type", "application/json"}},
		"large declared": {body: "", length: gate.MaxBody + 1, want: apperr.PayloadTooLarge},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		if c.length != 0 {
			r.ContentLength = c.length
		}
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		raw, err := gate.ReadBody(httptest.NewRecorder(), r)
		if c.want == "" {
			require.NoError(t, err, name)
			require.Len(t, raw, len(c.body), name)
			continue
		}
		require.Equal(t, c.want, apperr.CodeOf(err), name)
	}
}

// An IPv6 customer has a whole /64, and an IPv4 address is one however it is written.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7/32", "[::ffff:192.0.2.7]:1": "192.0.2.7/32", "[2001:db8:1:2:3::4]:1": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
	} {
		require.Equal(t, want, gate.Network(gate.RemoteIP(&http.Request{RemoteAddr: remote})).String(), remote)
	}
	require.False(t, gate.Network(netip.Addr{}).IsValid())
	require.Empty(t, gate.RemoteText(&http.Request{RemoteAddr: "@"}))
}
