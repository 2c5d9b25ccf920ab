package text

import (
	"regexp"
	"strings"
)

// email matches an RFC 5321 mailbox in lower-case ASCII: a dot-string, "@" and a domain. Quoted local parts and address literals
// do not match: nobody uses them, and they allow characters that look like others or are invisible.
var email = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@" +
	"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$")

// Email returns an e-mail address as accounts store it, in lower case; false when mail cannot be sent to it.
func Email(typed string) (string, bool) {
	address := strings.ToLower(typed)
	local, domain, _ := strings.Cut(address, "@")
	if len(address) > MaxEmail || len(local) > 64 || !email.MatchString(address) || len(address) != len(typed) {
		return "", false
	}
	return address, !numeric(domain)
}

// numeric reports whether a domain is an IPv4 address: its last label is a number, and no top-level domain is.
func numeric(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	return strings.Trim(last, "0123456789") == ""
}
