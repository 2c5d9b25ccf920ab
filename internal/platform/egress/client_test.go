package egress_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"atrium/internal/platform/egress"
	"atrium/internal/test/testkit/receiver"
)

// client returns a client that can reach receivers on loopback addresses.
func client(t *testing.T, change ...func(*egress.Options)) *egress.Client {
	t.Helper()
	o := egress.Options{Allow: receiver.Loopback, CAFile: receiver.CAFile(t)}
	for _, c := range change {
		c(&o)
	}
	c, err := egress.New(o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func post(t *testing.T, c *egress.Client, url string, l egress.Limits) (egress.Answer, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"a":1}`))
	require.NoError(t, err)
	return c.Do(t.Context(), req, l)
}

func classOf(t *testing.T, err error) egress.Class {
	t.Helper()
	var e *egress.Error
	require.ErrorAs(t, err, &e)
	require.True(t, strings.HasPrefix(e.Text(), string(e.Class)+": "), e.Text())
	require.Greater(t, len(e.Text()), len(e.Class)+10, "a class without words")
	return e.Class
}

func TestAnswersComeBackWhole(t *testing.T) {
	t.Parallel()
	c := client(t)
	for status, body := range map[int]string{200: "ok", 204: "", 400: "no", 404: "where", 410: "gone", 500: "oh"} {
		r := receiver.New(t, receiver.Status(status, body))
		a, err := post(t, c, r.URL, egress.Limits{})
		require.NoError(t, err)
		require.Equal(t, status, a.Status)
		require.Equal(t, body, string(a.Body))
		require.False(t, a.Truncated)
		require.JSONEq(t, `{"a":1}`, string(r.Got()[0].Body))
	}
}

func TestBodiesAreCutOff(t *testing.T) {
	t.Parallel()
	c := client(t)
	r := receiver.New(t, receiver.Big(10<<20))
	a, err := post(t, c, r.URL, egress.Limits{})
	require.NoError(t, err)
	require.Len(t, a.Body, egress.DefaultBody)
	require.True(t, a.Truncated)
	a, err = post(t, c, r.URL, egress.Limits{Body: 300_000})
	require.NoError(t, err)
	require.Len(t, a.Body, 300_000)
	exact := receiver.New(t, receiver.Status(200, strings.Repeat("x", egress.DefaultBody)))
	a, err = post(t, c, exact.URL, egress.Limits{})
	require.NoError(t, err)
	require.Len(t, a.Body, egress.DefaultBody)
	require.False(t, a.Truncated)
}

func TestRedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := receiver.New(t, nil)
	a, err := post(t, client(t), receiver.New(t, receiver.Redirect(elsewhere.URL)).URL, egress.Limits{})
	require.NoError(t, err)
	require.Equal(t, http.StatusMovedPermanently, a.Status)
	require.Empty(t, elsewhere.Got())
}

func TestFailuresHaveClasses(t *testing.T) {
	t.Parallel()
	c := client(t)
	short := egress.Limits{Timeout: 300 * time.Millisecond}
	garbage := receiver.Raw(func(int) (string, bool) { return "SSH-2.0-OpenSSH\r\n", false })
	half := receiver.Raw(func(int) (string, bool) { return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!", false })
	nothing := receiver.Raw(func(int) (string, bool) { return "", false })
	for name, f := range map[string]struct {
		url    string
		limits egress.Limits
		class  egress.Class
	}{
		"hang":              {receiver.New(t, receiver.Hang()).URL, short, egress.ClassTimeout},
		"drip":              {receiver.New(t, receiver.Drip(20*time.Millisecond)).URL, short, egress.ClassTimeout},
		"half-open TLS":     {receiver.HalfOpen(t), short, egress.ClassTimeout},
		"reset":             {receiver.New(t, receiver.Reset()).URL, egress.Limits{}, egress.ClassReset},
		"half an answer":    {receiver.New(t, half).URL, egress.Limits{}, egress.ClassReset},
		"no answer":         {receiver.New(t, nothing).URL, egress.Limits{}, egress.ClassReset},
		"no HTTP":           {receiver.New(t, garbage).URL, egress.Limits{}, egress.ClassProtocol},
		"header bomb":       {receiver.New(t, receiver.HeaderBomb()).URL, egress.Limits{}, egress.ClassHeader},
		"wrong certificate": {receiver.WrongCertificate(t).URL, egress.Limits{}, egress.ClassTLS},
		"wrong name":        {receiver.WrongName(t).URL, egress.Limits{}, egress.ClassTLS},
		"no TLS":            {receiver.Plain(t), egress.Limits{}, egress.ClassTLS},
		"nobody":            {receiver.Closed(t), egress.Limits{}, egress.ClassConnect},
		"no such name":      {"https://nobody.invalid/", egress.Limits{}, egress.ClassDNS},
		"plain HTTP":        {"http://127.0.0.1/", egress.Limits{}, egress.ClassURL},
		"link-local":        {"https://169.254.169.254/latest/meta-data", egress.Limits{}, egress.ClassRefused},
		"unspecified":       {"https://0.0.0.0/", egress.Limits{}, egress.ClassRefused},
		"IPv6 loopback":     {"https://[::1]/", egress.Limits{}, egress.ClassRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := post(t, c, f.url, f.limits)
			require.Equal(t, f.class, classOf(t, err), "%v", err)
		})
	}
}

func TestCallerWhoGivesUp(t *testing.T) {
	t.Parallel()
	r := receiver.New(t, receiver.Hang())
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, nil)
	require.NoError(t, err)
	go func() {
		r.Await(t, 1)
		cancel()
	}()
	_, err = client(t).Do(ctx, req, egress.Limits{})
	require.Equal(t, egress.ClassStopped, classOf(t, err))
}

// No name or literal for a loopback address reaches the receiver.
func TestLoopbackIsRefusedHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	r := receiver.New(t, nil)
	port := r.Port()
	c := client(t, func(o *egress.Options) { o.Allow = nil })
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.1", "2130706433", "0x7f.1", "017700000001", "0.0.0.0"} {
		_, err := post(t, c, "https://"+host+":"+port+"/", egress.Limits{})
		require.Contains(t, []egress.Class{egress.ClassRefused, egress.ClassDNS}, classOf(t, err), "%s: %v", host, err)
	}
	require.Empty(t, r.Got())
}

// A proxy in the environment is not used: it would dial without the guard.
func TestNoProxyFromTheEnvironment(t *testing.T) {
	proxy := receiver.New(t, nil)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("https_proxy", proxy.URL)
	r := receiver.New(t, nil)
	_, err := post(t, client(t), r.URL, egress.Limits{})
	require.NoError(t, err)
	require.Len(t, r.Got(), 1)
	require.Empty(t, proxy.Got())
}

// A name is looked up for each connection, and the address found then is checked.
func TestNameThatFlips(t *testing.T) {
	t.Parallel()
	r := receiver.New(t, nil)
	var address atomic.Pointer[[4]byte]
	address.Store(&[4]byte{127, 0, 0, 2})
	resolver := fakeDNS(t, func() [4]byte { return *address.Load() })
	c := client(t, func(o *egress.Options) { o.Resolver, o.Allow = resolver, nil })
	url := "https://flip.test:" + r.Port() + "/"
	require.NoError(t, c.CheckURL(url), "a name is nothing to refuse when it is saved")
	for _, ip := range [][4]byte{{127, 0, 0, 1}, {10, 0, 0, 1}, {169, 254, 169, 254}} {
		address.Store(&ip)
		_, err := post(t, c, url, egress.Limits{})
		require.Equal(t, egress.ClassRefused, classOf(t, err), "%v", ip)
		var told *egress.Error
		require.ErrorAs(t, err, &told)
		require.NotContains(t, told.Text(), netip.AddrFrom4(ip).String(), "what the name resolved to is nobody's business")
	}
	require.Empty(t, r.Got())

	// With loopback allowed the name is dialled, and refused again once it resolves to another address.
	c = client(t, func(o *egress.Options) { o.Resolver = resolver })
	address.Store(&[4]byte{127, 0, 0, 1})
	a, err := post(t, c, url, egress.Limits{})
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, a.Status)
	c.Close()
	address.Store(&[4]byte{10, 0, 0, 1})
	_, err = post(t, c, url, egress.Limits{})
	require.Equal(t, egress.ClassRefused, classOf(t, err))
	require.Len(t, r.Got(), 1)
}

// fakeDNS returns a resolver that has the same A record for every name.
func fakeDNS(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
					Body:   &dnsmessage.AResource{A: address()},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = pc.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func TestCAFile(t *testing.T) {
	t.Parallel()
	r := receiver.New(t, nil)
	_, err := post(t, client(t, func(o *egress.Options) { o.CAFile = "" }), r.URL, egress.Limits{})
	require.Equal(t, egress.ClassTLS, classOf(t, err))
	_, err = egress.New(egress.Options{CAFile: filepath.Join(t.TempDir(), "none.pem")})
	require.ErrorContains(t, err, "read the CAs")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("nothing"), 0o600))
	_, err = egress.New(egress.Options{CAFile: empty})
	require.ErrorContains(t, err, "no certificate")
}
