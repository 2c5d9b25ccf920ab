package tlsfront

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME returns a configuration for Listen that obtains and renews certificates for domains by TLS-ALPN-01: the
// directory's validation arrives on the same port, which must be reachable as 443 from there. An empty
// directoryURL means Let's Encrypt; any other is https, or http on loopback for tests. email (optional) is where
// the directory writes about problems; calling ACME accepts its terms of service. Account key and certificates
// are kept in cacheDir (made with 0700 when needed). Names outside domains, and clients that name no host, get no
// certificate and make no order. The first handshake for a name waits for the order; when it takes longer than
// the server's handshake timeout, that client has to try again. Returns an error for a domain that the challenge
// cannot prove (wildcard, address, single label), a bad URL or no cacheDir.
func ACME(domains []string, directoryURL, email, cacheDir string) (*tls.Config, error) {
	if len(domains) == 0 {
		return nil, errors.New("tlsfront: ACME needs a domain")
	}
	if cacheDir == "" {
		return nil, errors.New("tlsfront: ACME needs a cache folder: without one, every start orders anew and meets the directory's limits")
	}
	for _, d := range domains {
		if net.ParseIP(d) != nil || !isHostName(d) || strings.HasPrefix(d, "*") || !strings.Contains(d, ".") {
			return nil, fmt.Errorf("tlsfront: ACME cannot prove %q with TLS-ALPN-01", d)
		}
	}
	if directoryURL == "" {
		directoryURL = autocert.DefaultACMEDirectory
	}
	if err := checkDirectory(directoryURL); err != nil {
		return nil, err
	}
	m := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(cacheDir),
		HostPolicy: autocert.HostWhitelist(domains...),
		Client:     &acme.Client{DirectoryURL: directoryURL, UserAgent: "atrium"},
		Email:      email,
	}
	cfg := m.TLSConfig() // offers acme-tls/1 besides h2 and http/1.1
	cfg.MinVersion = tls.VersionTLS12
	return cfg, nil
}

// checkDirectory refuses addresses over which an account could be taken over.
func checkDirectory(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("tlsfront: ACME directory: %w", err)
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return fmt.Errorf("tlsfront: ACME directory %q is not an https address", raw)
	}
	return nil
}
