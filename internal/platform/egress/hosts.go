package egress

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// Hosts are the hosts to which something may be sent, as ParseHosts returns them: a name or an address, "*.example.com" for every name
// below example.com but not for that name, or Everywhere. Nil, which a row from before the list has, is everywhere, too; an empty list is
// nowhere. Ports are no part of it: a port of a host is the host's, and names no other receiver.
type Hosts []string

// Everywhere is the entry that stands for all hosts.
const Everywhere = "*"

// ErrHosts is returned by ParseHosts, and completes "The hosts …".
var ErrHosts = errors.New("must be names such as api.example.com or *.example.com, without https://, port and path; * is everywhere")

// ParseHosts returns a list in the form in which hosts are compared, each once.
func ParseHosts(list []string) (Hosts, error) {
	out := Hosts{}
	for _, entry := range list {
		if entry != Everywhere {
			base, wild := strings.CutPrefix(entry, "*.")
			host := HostName(base)
			if host == "" || wild && (endsInNumber(host) || strings.Contains(host, ":")) {
				return nil, ErrHosts
			}
			if entry = host; wild {
				entry = "*." + host
			}
		}
		if !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	return out, nil
}

// Allow reports whether something may be sent to a host, in whatever notation.
func (h Hosts) Allow(host string) bool { return h == nil || h.hold(HostName(host)) }

// AllowURL is Allow for the host of an address; false for a text that is none.
func (h Hosts) AllowURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && h.Allow(u.Hostname())
}

// Within reports whether all that h allows is allowed by of, too. Everywhere is within a list that says so, but not within nil, so
// that somebody says so once.
func (h Hosts) Within(of Hosts) bool {
	return !slices.ContainsFunc(h, func(entry string) bool {
		return !of.hold(entry) && (of != nil || entry == Everywhere)
	})
}

// hold reports whether one of the entries is the name, or a pattern for it. The name may be an entry itself.
func (h Hosts) hold(name string) bool {
	return slices.ContainsFunc(h, func(entry string) bool {
		below, wild := strings.CutPrefix(entry, "*")
		return entry == Everywhere || entry == name || wild && strings.HasSuffix(name, below)
	})
}

// HostName returns the host of an address, without its port, in the form in which hosts are compared: in lower case, in ASCII (punycode, by
// the transport's mapping), without a final dot, an IP address in its shortest form without brackets. Returns an empty text for what is no
// host.
func HostName(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(host, ":") {
			return ""
		}
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return ""
		}
		host = ascii
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return ""
		}
		return ip.Unmap().String()
	}
	if len(host) > 253 {
		return ""
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return ""
		}
	}
	return host
}

// IsLoopback reports whether a host, such as a URL's, is localhost or a loopback address.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
