package sender

import (
	"context"
	"net/netip"
	"strings"
)

// maxNames is how many names of an address are looked up.
const maxNames = 5

// Forwarded is Results for a mail that came to our own SMTP listener, where anybody can write the header of that server: the client must be
// one of the server's organization besides. That is an address of the server's name, one whose own name, there and back, is of its domain,
// and one of this machine or of a private network, which only the operator lets in. A mail that came from nowhere was put in by the operator.
func (c Checker) Forwarded(ctx context.Context, raw []byte, from, server string, client netip.Addr) Verdict {
	v := Results(raw, from, server)
	client = client.Unmap()
	if !v.Aligned || !client.IsValid() || client.IsLoopback() || client.IsPrivate() || client.IsLinkLocalUnicast() {
		return v
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	r := &bounded{Resolver: c.Resolver, ctx: ctx, left: maxQueries}
	if r.of(client, strings.ToLower(server)) {
		return v
	}
	out := Verdict{Temporary: r.failed}
	out.say("authentication-results: %s, which sent them, is not known to belong to %s", client, short(server))
	return out
}

// of reports whether an address belongs to the organization of a server.
func (b *bounded) of(client netip.Addr, server string) bool {
	if b.has(server, client) {
		return true
	}
	names, err := b.LookupAddr(b.ctx, client.String())
	if err != nil {
		return false
	}
	for _, name := range names[:min(len(names), maxNames)] {
		if name = strings.TrimSuffix(name, "."); aligned(name, server, false) && b.has(name, client) {
			return true
		}
	}
	return false
}

// has reports whether a name has an address.
func (b *bounded) has(name string, client netip.Addr) bool {
	if !strings.Contains(name, ".") {
		return false
	}
	found, err := b.LookupIPAddr(b.ctx, name)
	for _, ip := range found {
		if at, ok := netip.AddrFromSlice(ip.IP); ok && at.Unmap() == client {
			return err == nil
		}
	}
	return false
}
