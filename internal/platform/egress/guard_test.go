package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/egress"
)

// inside lists addresses of this machine, its network or its hosting provider.
var inside = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
	"192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
	"::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1",
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
}

// outside lists addresses on the public internet.
var outside = []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8"}

func TestGuardRefusesWhatIsInside(t *testing.T) {
	t.Parallel()
	g := egress.NewGuard(nil)
	for _, ip := range inside {
		require.Error(t, g.Check(netip.MustParseAddr(ip)), ip)
	}
	for _, ip := range outside {
		require.NoError(t, g.Check(netip.MustParseAddr(ip)), ip)
	}
	require.Error(t, g.Check(netip.Addr{}), "no address at all")
	require.Error(t, g.Check(netip.MustParseAddr("2606:4700:4700::1111%eth0")))
}

func TestGuardLetsIntoAllowedNetworksOnly(t *testing.T) {
	t.Parallel()
	g := egress.NewGuard([]netip.Prefix{
		netip.MustParsePrefix("10.1.2.3/16"), netip.MustParsePrefix("::ffff:192.168.7.0/120"), netip.MustParsePrefix("fd00:7::/32"),
	})
	for _, ip := range []string{"10.1.0.1", "10.1.255.255", "::ffff:10.1.0.1", "192.168.7.9", "fd00:7::1", "8.8.8.8"} {
		require.NoError(t, g.Check(netip.MustParseAddr(ip)), ip)
	}
	for _, ip := range []string{"10.2.0.1", "192.168.8.1", "fd00:8::1", "127.0.0.1", "::1", "fd00:7::1%eth0"} {
		require.Error(t, g.Check(netip.MustParseAddr(ip)), ip)
	}
}

func TestURLsThatAreRefusedWhenSaved(t *testing.T) {
	t.Parallel()
	g := egress.NewGuard(nil)
	urls := []string{
		"", "example.org", "//example.org", "/hook", "https:", "https://", "https:///hook", "https:example.org", "https://:443/", "https://.",
		"http://example.org", "HTTP://example.org", "ftp://example.org", "file:///etc/passwd", "javascript:alert(1)", "gopher://example.org",
		"https://user@example.org", "https://user:password@example.org", "https://@example.org", "https://1.1.1.1@10.0.0.1/",
		"https://example.org /", " https://example.org", "https://example.org\n", "https://exam\tple.org", "https://example.org/a b", "https://example.org/\x00",
		"https://example.org/\u00a0", "https://example.org/\u2028", "https://exam\u200bple.org", "https:\\\\example.org", "https://example.org\\@10.0.0.1",
		"https://example.org:0", "https://example.org:65536", "https://example.org:99999999999", "https://example.org:-1", "https://example.org:http", "https://example.org:",
		"https://[::1", "https://[::1]x/", "https://[v1.fe]/", "https://[1.1.1.1]/", "https://[fe80::1%25eth0]/", "https://[::ffff:8.8.8.8%25lo]/",
		"https://%31%32%37.0.0.1/", "https://exam%20ple.org/",
		"https://" + strings.Repeat("a", 2000) + ".org/",
		// IPv4 addresses in notations that some resolvers accept.
		"https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0X7F000001/", "https://127.1/", "https://127.0.1/", "https://0177.0.0.1/",
		"https://0x7f.0.0.1/", "https://127.0.0.0x1/", "https://127.0.0.01/", "https://134744072/", "https://0/", "https://0x/", "https://127.0.0.1./", "https://256.1.1.1/",
		"https://1.2.3.4.5/", "https://example.0x7f/", "https://example.1/",
		// The same with characters that are mapped to digits and dots.
		"https://１２７.0.0.1/", "https://127。0。0。1/", "https://①②⑦.0.0.1/", "https://２１３０７０６４３３/",
	}
	for _, ip := range inside {
		if strings.Contains(ip, ":") {
			ip = "[" + ip + "]"
		}
		urls = append(urls, "https://"+ip+"/", "https://"+ip+":8443/hook?a=b")
	}
	for _, url := range urls {
		err := g.CheckURL(url)
		require.Error(t, err, "%q", url)
		var told *egress.URLError
		require.ErrorAs(t, err, &told)
		if url != "" {
			require.NotContains(t, told.Message, url, "the message repeats what was refused")
		}
	}
}

func TestURLsThatMayBeSaved(t *testing.T) {
	t.Parallel()
	g := egress.NewGuard(nil)
	for _, url := range []string{
		"https://example.org", "HTTPS://Example.ORG/", "https://example.org:8443/hook?a=b&c=%20d#e", "https://sub.example.org./x", "https://bücher.example/",
		"https://xn--bcher-kva.example/", "https://8.8.8.8/", "https://1.1.1.1:8443/", "https://[2606:4700:4700::1111]/", "https://[::ffff:8.8.8.8]:443/",
		"https://localhost/", "https://1e100.net/", "https://0x7f.example/", "https://face.b00c/", "https://a_b.example/", "https://" + strings.Repeat("a/", 990),
	} {
		require.NoError(t, g.CheckURL(url), "%q", url)
	}
	require.NoError(t, egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).CheckURL("https://127.0.0.1:9/"))
}

// CheckURL never panics, and the guard has checked the host of every URL that it accepts.
func FuzzCheckURL(f *testing.F) {
	g := egress.NewGuard(nil)
	for _, seed := range []string{"https://example.org/", "https://127.0.0.1", "https://[::1]:443/", "https://0x7f.1", "https://a:b@c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		if g.CheckURL(url) != nil {
			return
		}
		require.True(t, strings.HasPrefix(strings.ToLower(url), "https://"), "%q", url)
		require.NotContains(t, url, " ")
	})
}
