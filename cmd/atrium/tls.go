package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"atrium/internal/run"
	"atrium/internal/tlsfront"
)

// certificates returns where the front's certificate comes from: files, ACME, or the CA in the data folder.
func (s *server) certificates() (*tls.Config, error) {
	switch {
	case len(s.ACMEDomain) > 0:
		return tlsfront.ACME(s.ACMEDomain, s.ACMEDirectory, s.ACMEEmail, filepath.Join(s.Data, "acme")) //nolint:wrapcheck // says what it was doing
	case s.TLSCert != "":
		files, err := tlsfront.CertFiles(s.TLSCert, s.TLSKey)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it was doing
		}
		return files.TLSConfig(), nil
	}
	hosts := s.hosts()
	ca, cert, key, err := tlsfront.LocalCA(s.Data, hosts, time.Now())
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if s.caFile, err = filepath.Abs(ca); err != nil {
		return nil, fmt.Errorf("name the CA file: %w", err)
	}
	files, err := tlsfront.CertFiles(cert, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	s.add(run.Part{Name: "certificate renewal", Run: func(ctx context.Context) error {
		return tlsfront.RenewLocalCA(ctx, s.Data, hosts, time.Now)
	}})
	return files.TLSConfig(), nil
}

// hosts are the names that the local certificate must cover.
func (s *server) hosts() []string {
	var hosts []string
	if host, _, err := net.SplitHostPort(s.Listen); err == nil && host != "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
			hosts = append(hosts, host)
		}
	}
	for _, raw := range []string{s.BaseURL, s.AuthURL} {
		if u, err := url.Parse(raw); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		hosts = append(hosts, name)
	}
	return hosts
}
