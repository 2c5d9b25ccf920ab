package gate

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
)

// Loopback is Front for the operators' listener at the address, which speaks plain HTTP. Instead of TLS it requires conditions
// that keep a call on this machine and away from other people's pages. It refuses (forbidden) everything else before it reads a
// credential:
//
//   - Both ends of the connection are loopback addresses, and the local one is the listener's own: mounted anywhere else,
//     it answers nothing. Only somebody who controls the machine can listen on loopback.
//   - The call names a loopback host. A page whose own name resolves to this address (DNS rebinding) names its own host.
//   - A browser sends calls that change or cost anything only for a page of this origin.
//
// It removes cookies, because a browser adds them by itself, and those of the product's own origin reach every port of
// the host. The remaining credentials are headers that somebody has set on purpose.
func (g *Gate) Loopback(at netip.AddrPort, next http.Handler) http.Handler {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	return g.front(func(r *http.Request) error {
		if !at.Addr().IsLoopback() || nearEnd(r) != at || !RemoteIP(r).IsLoopback() {
			return apperr.New(apperr.Forbidden, "This is answered to callers on the same machine.")
		}
		return Local(r)
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(r.Context()) // a copy
		r.Header = r.Header.Clone()
		r.Header.Del("Cookie")
		next.ServeHTTP(w, r)
	}))
}

var crossing = http.NewCrossOriginProtection()

// Local returns forbidden for a call that names no loopback host, and for one that a browser makes for a page of another
// origin.
func Local(r *http.Request) error {
	if !loopbackHost(r.Host) {
		return apperr.New(apperr.Forbidden, "Call this by a loopback address or as localhost.")
	}
	if err := crossing.Check(r); err != nil {
		return apperr.Wrap(err, apperr.Forbidden, "Calls from other origins are refused.")
	}
	return nil
}

// nearEnd returns the address of the listener that accepted the call; the zero AddrPort when it is unknown.
func nearEnd(r *http.Request) netip.AddrPort {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return netip.AddrPort{}
	}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// loopbackHost reports whether a Host header names this machine itself, at any port, because a tunnel has a port of its own.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return egress.IsLoopback(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
}
