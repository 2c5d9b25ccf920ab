package egress_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/egress"
)

func hosts(t *testing.T, list ...string) egress.Hosts {
	t.Helper()
	h, err := egress.ParseHosts(list)
	require.NoError(t, err)
	return h
}

// A list names hosts in whatever notation, and a call's host is compared in whatever notation: neither lets more through.
func TestHostsAreComparedAsTheyAreCalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry, host string
		want        bool
	}{
		{"api.example.com", "api.example.com", true},
		{"api.example.com", "API.Example.COM.", true},
		{"API.example.com.", "api.example.com", true},
		{"api.example.com", "api.example.com..", false},
		{"api.example.com", "example.com", false},
		{"api.example.com", "xapi.example.com", false},
		{"api.example.com", "api.example.com.evil.test", false},
		{"api.example.com", "a.api.example.com", false},
		{"*.example.com", "api.example.com", true},
		{"*.example.com", "a.b.EXAMPLE.com.", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", ".example.com", false},
		{"*.example.com", "evilexample.com", false},
		{"*.example.com", "api.example.com.evil.test", false},
		{"*.example.com", "a/b.example.com", false},
		{"*.example.com", "", false},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"xn--bcher-kva.example", "BÜCHER.example", true},
		{"bücher.example", "bucher.example", false},
		{"example.com", "ｅｘａｍｐｌｅ。ｃｏｍ", true},
		{"*.bücher.example", "a.xn--bcher-kva.example", true},
		{"2001:db8::1", "2001:0db8:0:0::0001", true},
		{"[2001:DB8::1]", "2001:db8::1", true},
		{"2001:db8::1", "2001:db8::2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"192.0.2.1", "::ffff:c000:201", true},
		{"192.0.2.1", "192.0.2.10", false},
		{"fe80::1", "fe80::1%eth0", false},
		{"*", "anything.test", true},
		{"*", "2001:db8::1", true},
	} {
		require.Equal(t, c.want, hosts(t, c.entry).Allow(c.host), "%s at %s", c.entry, c.host)
	}
	require.True(t, egress.Hosts(nil).Allow("anything.test"), "a list from before there were lists")
	require.False(t, egress.Hosts{}.Allow("anything.test"))
	require.True(t, hosts(t, "2001:db8::1").AllowURL("https://[2001:DB8::1]:8443/x"))
	require.True(t, hosts(t, "bücher.example").AllowURL("https://b%C3%BCcher.example/x"))
	require.False(t, hosts(t, "example.com").AllowURL("https://evil.test/example.com"))
	require.False(t, hosts(t, "example.com").AllowURL("https://example.com@evil.test/"))
}

func TestHostsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"", " ", ".", "*.", "**", "*.*.com", "a.*.com", "https://example.com", "example.com/", "example.com:443", "[2001:db8::1]:443", "[example.com]", "user@example.com",
		"exa mple.com", "-\u202ea.com", "*.192.0.2.1", "*.2001:db8::1", "*.1", "fe80::1%eth0", "example..com", "a,b",
	} {
		_, err := egress.ParseHosts([]string{"example.com", entry})
		require.ErrorIs(t, err, egress.ErrHosts, "%q", entry)
	}
	require.Equal(t, egress.Hosts{"example.com", "*.example.com", "xn--bcher-kva.example"}, hosts(t, "Example.com", "example.com.", "*.EXAMPLE.com", "bücher.example"))
}

// A list is wider than another if it lets a host through that the other does not, or says that it lets all.
func TestWiderHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list, of egress.Hosts
		want     bool
	}{
		{hosts(t, "a.test"), hosts(t, "a.test", "b.test"), true},
		{hosts(t, "a.test", "b.test"), hosts(t, "a.test"), false},
		{hosts(t, "x.a.test", "*.y.a.test"), hosts(t, "*.a.test"), true},
		{hosts(t, "*.a.test"), hosts(t, "a.test"), false},
		{hosts(t, "a.test"), hosts(t, "*.a.test"), false},
		{hosts(t, "*.b.test"), hosts(t, "*.a.b.test"), false},
		{hosts(t, "a.test", "*.a.test"), hosts(t, "*"), true},
		{hosts(t, "*"), hosts(t, "*"), true},
		{hosts(t, "*"), hosts(t, "*.test"), false},
		{hosts(t, "a.test", "*.b.test"), nil, true},
		{hosts(t, "*"), nil, false},
		{egress.Hosts{}, hosts(t, "a.test"), true},
		{hosts(t, "a.test"), egress.Hosts{}, false},
	} {
		require.Equal(t, c.want, c.list.Within(c.of), "%v within %v", c.list, c.of)
	}
}
