package gate

import (
	"net/http"
	"net/netip"

	"atrium/internal/audit"
)

// RemoteIP returns the address at the other end of the connection, IPv4 as such and without a zone; the zero Addr when it
// cannot be read.
func RemoteIP(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// RemoteText is RemoteIP as rows hold it; empty when it cannot be read.
func RemoteText(r *http.Request) string {
	if ip := RemoteIP(r); ip.IsValid() {
		return ip.String()
	}
	return ""
}

// Network returns what one customer has, by which anonymous calls are counted: an IPv4 address, or the /64 of an IPv6 one. The
// zero Prefix for the zero Addr.
func Network(ip netip.Addr) netip.Prefix {
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	n, _ := ip.Prefix(bits) // fails for the zero Addr only
	return n
}

// Origin returns where a call came from, as audit entries show it.
func Origin(w http.ResponseWriter, r *http.Request) audit.Origin {
	return audit.Origin{IP: RemoteText(r), UserAgent: r.UserAgent(), RequestID: RequestID(w)}
}
