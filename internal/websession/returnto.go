package websession

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxReturn bounds returnTo: several of them have to fit into one cookie.
const maxReturn = 1000

// localPath returns returnTo when it is a path of this host, and / for everything else. Browsers read a backslash as a
// slash and leave out tabs and line breaks, so that none of them may be in it; what follows the first slash must be no
// second one, which would begin a host.
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
	case pathLogin, pathCallback, pathLogout: // would sign in and out in circles
		return "/"
	}
	return returnTo
}
