package sender

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever reaches our listener can write the header of the server that a mailbox trusts. It counts from clients of that server's
// organization alone, and from those that only the operator lets in.
func TestForwardedByTheServerAlone(t *testing.T) {
	t.Parallel()
	z := newZone()
	addresses := func(list ...string) (out []net.IPAddr) {
		for _, a := range list {
			out = append(out, net.IPAddr{IP: net.ParseIP(a)})
		}
		return out
	}
	z.ip["mx.acme.test"] = addresses("192.0.2.1", "2001:db8::1")
	z.ip["out7.acme.test"] = addresses("192.0.2.7")
	z.ip["mx.evil.test"] = addresses("203.0.113.9")
	z.names = map[string][]string{"192.0.2.7": {"out7.acme.test."}, "203.0.113.8": {"out7.acme.test."}, "203.0.113.9": {"mx.evil.test.", "localhost."}, "203.0.113.7": {}}
	pass := []byte("Authentication-Results: MX.acme.test; dmarc=pass header.from=acme.test\r\n" + plain)
	for client, aligned := range map[string]bool{
		"192.0.2.1": true, "2001:db8::1": true, "::ffff:192.0.2.1": true, // the server itself
		"192.0.2.7": true, // another one of its organization
		"127.0.0.1": true, "10.1.2.3": true, "fd00::1": true,
		"203.0.113.9": false, "203.0.113.7": false, "203.0.113.6": false,
		"203.0.113.8": false, // its name says so, and the name's owner does not
	} {
		v := Checker{z}.Forwarded(t.Context(), pass, "ada@acme.test", "MX.acme.test", netip.MustParseAddr(client))
		require.Equal(t, aligned, v.Aligned, "%s: %+v", client, v)
		require.False(t, v.Temporary, "%s: %+v", client, v)
		if !aligned {
			require.Empty(t, v.By)
			require.Contains(t, strings.Join(v.Reasons, "\n"), client)
		}
	}
	require.True(t, Checker{z}.Forwarded(t.Context(), pass, "ada@acme.test", "mx.acme.test", netip.Addr{}).Aligned, "put in by the operator")
	require.False(t, Checker{z}.Forwarded(t.Context(), []byte(plain), "ada@acme.test", "mx.acme.test", ours.Client).Aligned)

	z.broken["203.0.113.9"] = true
	v := Checker{z}.Forwarded(t.Context(), pass, "ada@acme.test", "mx.acme.test", evils.Client)
	require.False(t, v.Aligned)
	require.True(t, v.Temporary)
}
