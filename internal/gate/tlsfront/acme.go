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

	"atrium/internal/platform/egress"
)

// ACME returns a configuration for Listen that obtains and renews certificates for domains by TLS-ALPN-01. The directory
// connects to the same port for its validation, so this port must be reachable from there as 443. An empty directoryURL means
// Let's Encrypt; any other must be https, or http on loopback for tests. email (optional) is the address that the directory
// writes to about problems. Calling ACME accepts the directory's terms of service. Account key and certificates are stored in
// cacheDir (created with mode 0700 when needed). Clients that name no host, or a host outside domains, get no certificate and
// cause no order. The first handshake for a name waits for the order; if the order takes longer than the server's handshake
// timeout, the client has to try again. Returns an error for a domain that the challenge cannot prove (wildcard, address,
// single label), an invalid URL, or an empty cacheDir.
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

// checkDirectory refuses URLs over which an attacker could take over the account.
func checkDirectory(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("tlsfront: ACME directory: %w", err)
	}
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !egress.IsLoopback(u.Hostname())) {
		return fmt.Errorf("tlsfront: ACME directory %q is not an https address", raw)
	}
	return nil
}
