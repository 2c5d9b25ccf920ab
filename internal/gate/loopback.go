package gate

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"atrium/internal/apperr"
)

// Loopback is Front for the operators' listener at the address, which speaks plain HTTP. In place of TLS it asks for what
// keeps a call on this machine and away from other people's pages, and refuses (forbidden) all else before a credential
// is looked at:
//
//   - Both ends of the connection are loopback addresses, the near one the listener's own: mounted anywhere else, it
//     answers nothing. Nobody listens in on loopback but who rules the machine.
//   - The call names a loopback host. A page that has its own name lead here (DNS rebinding) names that.
//   - A browser sends what changes or costs anything for a page of this origin alone.
//
// Cookies are taken off: a browser adds them by itself, and those of the product's own origin reach every port of the
// host. What is left as a credential are headers that somebody has set on purpose.
func (g *Gate) Loopback(at netip.AddrPort, next http.Handler) http.Handler {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	return g.front(func(r *http.Request) error {
		if !at.Addr().IsLoopback() || nearEnd(r) != at || !RemoteIP(r).IsLoopback() {
			return apperr.New(apperr.Forbidden, "This is answered to callers on the same machine.")
		}
		if err := Local(r); err != nil {
			return err
		}
		return nil
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(r.Context()) // a copy
		r.Header = r.Header.Clone()
		r.Header.Del("Cookie")
		next.ServeHTTP(w, r)
	}))
}

var crossing = http.NewCrossOriginProtection()

// Local returns forbidden for a call that names no loopback host, and for one that a page of another origin has a browser make.
func Local(r *http.Request) *apperr.Error {
	if !loopbackHost(r.Host) {
		return apperr.New(apperr.Forbidden, "Call this by a loopback address or as localhost.")
	}
	if err := crossing.Check(r); err != nil {
		return apperr.Wrap(err, apperr.Forbidden, "Calls from other origins are refused.")
	}
	return nil
}

// nearEnd returns the address of the listener that took the call; the zero AddrPort when it is no address.
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

// loopbackHost reports whether a Host header names this machine to itself, at any port: a tunnel has one of its own.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}
