package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// Guard decides which addresses may be called.
type Guard struct {
	public *ssrf.Guardian
	allow  []netip.Prefix
}

// NewGuard returns a guard that allows the public internet and the networks in allow.
func NewGuard(allow []netip.Prefix) *Guard {
	g := &Guard{public: ssrf.New(ssrf.WithAnyPort())}
	for _, p := range allow {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		g.allow = append(g.allow, p.Masked())
	}
	return g
}

// Check returns an error for an address that must not be called.
func (g *Guard) Check(ip netip.Addr) error {
	if !ip.IsValid() || ip.Zone() != "" {
		return errors.New("egress: no address, or one with a zone, which is this machine's own matter")
	}
	ip = ip.Unmap() // an IPv4 address mapped into IPv6 is dialled as IPv4
	for _, p := range g.allow {
		if p.Contains(ip) {
			return nil
		}
	}
	return g.public.SafeAddr(ip)
}

// control is the net.Dialer's Control function: it gets each address after the name lookup, directly before dialling.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s", errRefused, network)
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if err := g.Check(ap.Addr()); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// DialContext connects for protocols other than HTTP. It refuses what Check refuses, whatever the name in the address resolves to.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Control: g.control, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// errRefused distinguishes errors of the guard from other errors of dialling.
var errRefused = errors.New("egress: refused")

// URLError says why a URL is refused. The message is for the person who wrote the URL, completes "The URL …", and never repeats
// the URL.
type URLError struct{ Message string }

// Error returns the message.
func (e *URLError) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &URLError{fmt.Sprintf(format, args...)} }

// maxURL bounds a URL, in bytes.
const maxURL = 2000

// CheckURL returns *URLError for a URL that would never be called: it is not https, or has a user, invalid characters, an
// invalid port, or an address that the guard refuses, in any notation. It does not resolve names, because their addresses may
// change; dialling checks them.
func (g *Guard) CheckURL(raw string) error {
	if raw == "" || len(raw) > maxURL {
		return refuse("must be an https URL of at most %d characters", maxURL)
	}
	if strings.ContainsFunc(raw, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\\' || r == unicode.ReplacementChar
	}) {
		return refuse("must not contain spaces, backslashes or control characters")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return refuse("is not a URL")
	}
	switch {
	case u.Scheme != "https":
		return refuse("must begin with https://")
	case u.User != nil:
		return refuse("must not contain a user or password")
	case u.Hostname() == "":
		return refuse("must name a host")
	}
	if strings.HasSuffix(u.Host, ":") {
		return refuse("must have a port between 1 and 65535, or none")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return refuse("must have a port between 1 and 65535, or none")
		}
	}
	return g.checkHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
}

// checkHost checks the host of a URL. bracketed says whether it was in square brackets.
func (g *Guard) checkHost(host string, bracketed bool) error {
	if bracketed {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return refuse("must not name an address like this")
		}
		return g.checkLiteral(ip)
	}
	ascii := strings.TrimSuffix(host, ".")
	if strings.ContainsFunc(ascii, func(r rune) bool { return r > unicode.MaxASCII }) {
		// The transport does the same before it looks a name up. The mapping turns some characters into digits and dots.
		var err error
		if ascii, err = idna.Lookup.ToASCII(ascii); err != nil {
			return refuse("must name a host")
		}
	}
	if ascii == "" {
		return refuse("must name a host")
	}
	if !endsInNumber(ascii) {
		return nil
	}
	ip, err := netip.ParseAddr(ascii)
	if err != nil {
		// Decimal, octal, hexadecimal or short forms: some resolvers accept them as addresses, and no customer needs them.
		return refuse("must write an address as four decimal numbers")
	}
	return g.checkLiteral(ip)
}

func (g *Guard) checkLiteral(ip netip.Addr) error {
	if g.Check(ip) != nil {
		return refuse("must not name an address that is not on the public internet")
	}
	return nil
}

// endsInNumber reports whether a host is an IPv4 address in some notation, as the URL standard defines it: its last label is a
// decimal, octal or hexadecimal number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(strings.ToLower(last), "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}
