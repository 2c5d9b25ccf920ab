package identity

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// registrable describes a valid redirect URI, in words.
const registrable = "must be an https address, http on localhost, 127.0.0.1 or [::1], or a path behind a private-use scheme with a dot " +
	"(com.example.app:/callback), without user name, fragment or wildcard"

// privateScheme matches the scheme of a native application, which derives from a domain of its maker (RFC 8252, 7.1), and the
// beginning of the path.
var privateScheme = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:/`)

// validRedirect reports whether a redirect URI may be registered. URIs are compared as texts, so a wildcard would never
// match, although its owner believes that it does.
func validRedirect(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || len(s) > 2000 || strings.ContainsAny(s, "#* \t\r\n\\") {
		return false
	}
	_, _, local := loopback(s)
	return local || u.Scheme == "https" && u.Host != "" || privateScheme.MatchString(s)
}

// RedirectAllowed reports whether a client may be answered at uri: it must equal a registered one as text. URIs on
// http://localhost, 127.0.0.1 and [::1] match on any port, because a native application takes any free port (RFC 8252, 7.3),
// and so does the development server of a web application.
func RedirectAllowed(registered []string, uri string) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	host, rest, ok := loopback(uri)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		h, s, ok := loopback(r)
		return ok && h == host && s == rest
	})
}

// loopback splits a redirect URI on a loopback host into its host and the part after the port; false for any other URI. It
// neither decodes nor normalises: two URIs that differ in one byte after the port are different.
func loopback(uri string) (host, rest string, ok bool) {
	for _, host := range []string{"http://localhost", "http://127.0.0.1", "http://[::1]"} {
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

// OriginOf returns scheme, host and port of a web address as browsers write them; empty if it is no web address.
func OriginOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
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

// FormAction returns the source of a redirect URI for a content security policy; empty for what may not be redirected to. Browsers
// check the redirect that follows a form against the form-action of the form's page. A policy cannot name an IPv6 address: its
// source is the scheme alone, like that of a private-use scheme.
func FormAction(uri string) string {
	origin := OriginOf(uri)
	if strings.ContainsAny(origin, "[;, '\"") {
		scheme, _, _ := strings.Cut(origin, "//")
		return scheme
	}
	return cmp.Or(origin, strings.TrimSuffix(privateScheme.FindString(uri), "/"))
}

// Single returns the value of a parameter that occurs exactly once; otherwise an empty string.
func Single(params url.Values, name string) string {
	if v := params[name]; len(v) == 1 {
		return v[0]
	}
	return ""
}
