package text

import (
	"regexp"
	"strings"
)

// email is a mailbox of RFC 5321 in ASCII, in lower case: a dot-string at a domain. Quoted local parts and address literals
// are none: neither is anybody's, and both let characters in that look like others or like nothing.
var email = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@" +
	"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$")

// Email returns a typed e-mail address as accounts have it, in lower case; false when it is none that mail can be sent to.
func Email(typed string) (string, bool) {
	address := strings.ToLower(typed)
	local, domain, _ := strings.Cut(address, "@")
	if len(address) > 254 || len(local) > 64 || !email.MatchString(address) || len(address) != len(typed) {
		return "", false
	}
	return address, !numeric(domain)
}

// numeric reports whether a domain is an address of IPv4: its last label would be a number, which no top level is.
func numeric(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	return strings.Trim(last, "0123456789") == ""
}
