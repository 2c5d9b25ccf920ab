package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

// resolveAddresses sets the public addresses that no flag gives, and checks them.
func (m *serveCmd) resolveAddresses(listening net.Addr) error {
	if m.BaseURL == "" {
		m.BaseURL = "https://" + callable(m.Listen, listening)
	}
	m.AuthURL = cmp.Or(m.AuthURL, m.BaseURL)
	for _, flag := range []struct {
		name  string
		value *string
	}{{"--base-url", &m.BaseURL}, {"--auth-url", &m.AuthURL}} {
		u, err := url.Parse(strings.TrimSuffix(*flag.value, "/"))
		if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("%s must be https:// and a host, without a path", flag.name)
		}
		// As browsers write it in the header Origin, which is compared with it.
		*flag.value = "https://" + strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	}
	return nil
}

// callable returns an address that a client on this machine can dial: with the operator's host name if given, and localhost for a
// listener on all interfaces.
func callable(listen string, a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	host, _, err := net.SplitHostPort(listen)
	if err == nil && host != "" && net.ParseIP(host) == nil {
		return fmt.Sprintf("%s:%d", host, ap.Port())
	}
	if ap.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", ap.Port())
	}
	return a.String()
}

// hosts returns the host names that the local certificate must cover.
func (m *serveCmd) hosts() []string {
	var hosts []string
	if host, _, err := net.SplitHostPort(m.Listen); err == nil && host != "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
			hosts = append(hosts, host)
		}
	}
	for _, raw := range []string{m.BaseURL, m.AuthURL} {
		if u, err := url.Parse(raw); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		hosts = append(hosts, name)
	}
	return hosts
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, srv *http.Server, ln net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return srv.Shutdown(sctx)
}
