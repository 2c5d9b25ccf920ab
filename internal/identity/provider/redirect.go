package provider

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// redirectAllowed tells whether a client may be answered at uri: one of the registered ones, compared as texts. Those on
// http://127.0.0.1 and http://[::1] match on any port: a native application takes the port that it gets (RFC 8252, 7.3).
func redirectAllowed(registered []string, uri string) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	host, rest, ok := loopback(uri)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		h, s, ok := loopback(r)
		return ok && h == host && s == rest
	})
}

// loopback splits a redirect URI of a native application into its host and what stands behind the port; false for any
// other URI. Nothing is decoded or normalised: two URIs that differ in one byte behind the port are different.
func loopback(uri string) (host, rest string, ok bool) {
	for _, host := range []string{"http://127.0.0.1", "http://[::1]"} {
		rest, ok := strings.CutPrefix(uri, host)
		if !ok {
			continue
		}
		if port, has := strings.CutPrefix(rest, ":"); has {
			end := strings.IndexFunc(port, func(c rune) bool { return c < '0' || c > '9' })
			if end < 0 {
				end = len(port)
			}
			if n, err := strconv.ParseUint(port[:end], 10, 16); err != nil || n == 0 {
				return "", "", false
			}
			rest = port[end:]
		}
		// Anything else behind the host would make it another one: http://127.0.0.1.evil.test, http://127.0.0.1:80@evil.test.
		return host, rest, rest == "" || rest[0] == '/' || rest[0] == '?'
	}
	return "", "", false
}

// originOf returns scheme, host and port of an address as browsers write them; empty for what has none.
func originOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	return u.Scheme + "://" + host
}
