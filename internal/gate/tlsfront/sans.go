package tlsfront

import (
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
)

// sans are the subject alternative names of a server certificate.
type sans struct {
	dns []string
	ips []net.IP
}

// namesOf returns the names that the certificate for hosts covers. Names are ASCII (punycode for others) and may be wildcards
// such as "*.example.org"; an address may be in brackets. Returns an error for anything else, such as a host with a port.
func namesOf(hosts []string) (sans, error) {
	out := sans{dns: []string{"localhost"}, ips: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
	for _, host := range hosts {
		name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), "."))
		if name == "" {
			continue
		}
		if ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")); ip != nil {
			if !ip.IsUnspecified() && !slices.ContainsFunc(out.ips, ip.Equal) {
				out.ips = append(out.ips, ip)
			}
			continue
		}
		if !isHostName(name) {
			return sans{}, fmt.Errorf("%q is neither a host name nor an address", host)
		}
		if !slices.Contains(out.dns, name) {
			out.dns = append(out.dns, name)
		}
	}
	return out, nil
}

// within reports whether cert covers all names.
func (s sans) within(cert *x509.Certificate) bool {
	for _, name := range s.dns {
		if !slices.Contains(cert.DNSNames, name) {
			return false
		}
	}
	for _, ip := range s.ips {
		if !slices.ContainsFunc(cert.IPAddresses, ip.Equal) {
			return false
		}
	}
	return true
}

// isHostName reports whether name consists of DNS labels. The first label may be a wildcard.
func isHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	labels := strings.Split(name, ".")
	if len(labels) > 1 && labels[0] == "*" {
		labels = labels[1:]
	}
	for _, label := range labels {
		ok := len(label) > 0 && len(label) <= 63 && label[0] != '-' && label[len(label)-1] != '-'
		for _, c := range label {
			ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
		}
		if !ok {
			return false
		}
	}
	return true
}
