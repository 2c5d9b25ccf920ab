package websession

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxReturn bounds returnTo in bytes: several of them have to fit into one cookie.
const maxReturn = 1000

// localPath returns returnTo if it is a path on this host, else "/". Browsers treat a backslash as a slash and skip tabs and
// line breaks, so these are not allowed. A second slash after the first is not allowed either, because it would begin a host
// name.
func localPath(returnTo string) string {
	bad := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' || c == utf8.RuneError }
	if !strings.HasPrefix(returnTo, "/") || strings.HasPrefix(returnTo, "//") || len(returnTo) > maxReturn || strings.ContainsFunc(returnTo, bad) {
		return "/"
	}
	u, err := url.Parse(returnTo)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return "/"
	}
	switch u.Path {
	case pathLogin, pathCallback, pathLogout: // would sign in or out in a loop
		return "/"
	}
	return returnTo
}
