package gate

import (
	"net/http"
	"net/netip"

	"atrium/internal/op/audit"
)

// RemoteIP returns the remote address of the connection without a zone, IPv4 addresses unmapped; the zero Addr when it cannot
// be read.
func RemoteIP(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// RemoteText is RemoteIP as rows store it; empty when it cannot be read.
func RemoteText(r *http.Request) string {
	if ip := RemoteIP(r); ip.IsValid() {
		return ip.String()
	}
	return ""
}

// Network returns the network of one customer, by which anonymous calls are counted: an IPv4 address, or the /64 of an IPv6
// address. It returns the zero Prefix for the zero Addr.
func Network(ip netip.Addr) netip.Prefix {
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	n, _ := ip.Prefix(bits) // fails for the zero Addr only
	return n
}

// Origin returns the origin of a call, as audit entries show it.
func Origin(w http.ResponseWriter, r *http.Request) audit.Origin {
	return audit.Origin{IP: RemoteText(r), UserAgent: r.UserAgent(), RequestID: RequestID(w)}
}
