package tlsfront

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/acme"
)

// The stub directory checks that TLS-ALPN-01 works on the front's own port. Compatibility with real directories is up to
// x/crypto.
func TestACMEIssuesOverTheSamePort(t *testing.T) {
	t.Parallel()
	const domain = "atrium.example.org"
	ca := newACMEStub(t)
	cache := filepath.Join(t.TempDir(), "acme")
	cfg, err := ACME([]string{domain}, ca.url()+"/dir", "ops@example.org", cache)
	require.NoError(t, err)
	b := serve(t, hello, cfg, ca.pool)
	ca.front = b.addr

	dial := func(name string) (*tls.Conn, error) {
		return tls.Dial("tcp", b.addr, &tls.Config{RootCAs: ca.pool, ServerName: name, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	}
	for range 2 {
		c, err := dial(domain)
		require.NoError(t, err)
		require.Equal(t, "h2", c.ConnectionState().NegotiatedProtocol)
		require.Equal(t, []string{domain}, c.ConnectionState().PeerCertificates[0].DNSNames)
		require.NoError(t, c.Close())
	}
	require.EqualValues(t, 1, ca.orders.Load(), "one order, then the cache")
	require.Equal(t, []string{"mailto:ops@example.org"}, ca.contact)

	for _, other := range []string{"other.example.org", "example.org", "sub." + domain} {
		_, err := dial(other)
		require.Error(t, err)
	}
	require.EqualValues(t, 1, ca.orders.Load(), "nobody else can make us order")
	require.Contains(t, b.talk(t, "GET / HTTP/1.1\r\n\r\n"), "https_required")

	// A restart finds the certificate in the cache.
	cfg, err = ACME([]string{domain}, ca.url()+"/dir", "", cache)
	require.NoError(t, err)
	again := serve(t, hello, cfg, ca.pool)
	client := again.client(t, true)
	client.Transport.(*http.Transport).TLSClientConfig.ServerName = domain
	_, body := get(t, client, again.url())
	require.Equal(t, "hello HTTP/2.0", body)
	require.EqualValues(t, 1, ca.orders.Load())
}

func TestACMEConfig(t *testing.T) {
	t.Parallel()
	cfg, err := ACME([]string{"a.example.org"}, "", "", t.TempDir())
	require.NoError(t, err)
	require.Contains(t, cfg.NextProtos, acme.ALPNProto)
	require.EqualValues(t, tls.VersionTLS12, cfg.MinVersion)
	_, err = cfg.GetCertificate(&tls.ClientHelloInfo{ServerName: "b.example.org"})
	require.ErrorContains(t, err, "not configured in HostWhitelist")
	_, err = cfg.GetCertificate(&tls.ClientHelloInfo{})
	require.ErrorContains(t, err, "missing server name")

	front, err := Listen("127.0.0.1:0", cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, front.ln.Close()) }()
	require.ElementsMatch(t, []string{"h2", "http/1.1", acme.ALPNProto}, front.cfg.NextProtos)
}

func TestACMERefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, domain := range []string{"", "localhost", "*.example.org", "10.1.2.3", "::1", "a.example.org:443", "https://a.example.org"} {
		_, err := ACME([]string{"good.example.org", domain}, "", "", dir)
		require.ErrorContains(t, err, "cannot prove", domain)
	}
	_, err := ACME(nil, "", "", dir)
	require.ErrorContains(t, err, "needs a domain")
	_, err = ACME([]string{"a.example.org"}, "", "", "")
	require.ErrorContains(t, err, "cache folder")
	for _, u := range []string{"http://ca.example.org/dir", "ca.example.org", "ftp://localhost/", "https://", "%"} {
		_, err := ACME([]string{"a.example.org"}, u, "", dir)
		require.ErrorContains(t, err, "ACME directory", u)
	}
}

// certPool returns a pool with one certificate.
func certPool(cert *x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool
}
