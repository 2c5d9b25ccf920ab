package main_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

// Two servers on one database count a key's calls together, in Redis.
func TestSharedRateLimit(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	redis := testkit.Redis(t)
	a := p.serve("ATRIUM_REDIS_URL=" + redis)
	b := p.serve("--redis-url", redis)
	require.NotContains(t, a.err.String()+b.err.String(), redis)
	free := p.object("company", "create", "--name", "Free", "--plan", "free", "--owner-email", "free@example.org")
	c := p.client()
	for _, plan := range []struct {
		key   string
		limit int64
	}{{p.firstRun().LiveKey, 300}, {free["liveKey"].(string), 60}, {free["testKey"].(string), 60}} {
		var limited atomic.Int64
		var wg sync.WaitGroup
		var mu sync.Mutex
		var served []span
		for i := range int(plan.limit) + 100 {
			n := []*node{a, b}[i%2]
			wg.Go(func() {
				began := time.Now()
				res, err := send(c, "GET", n.base+"/v1/services?pageSize=1", plan.key, "")
				switch {
				case err != nil:
					t.Error(err)
				case res.status == 200:
					mu.Lock()
					served = append(served, span{began, time.Now()})
					mu.Unlock()
				case res.status == 429 && res.header.Get("Retry-After") != "":
					limited.Add(1)
				default:
					t.Errorf("%d %s", res.status, res.body)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, int(plan.limit)+100, len(served)+int(limited.Load()))
		require.GreaterOrEqual(t, len(served), int(plan.limit))
		// On a machine so slow that this takes more than a minute, more calls are served, but never more than the limit within
		// one minute.
		for _, from := range served {
			n := 0
			for _, s := range served {
				if !s.began.Before(from.began) && s.ended.Before(from.began.Add(time.Minute)) {
					n++
				}
			}
			require.LessOrEqual(t, n, int(plan.limit), "served within a minute")
		}
	}
}

// Two servers count anonymous calls together, and each on its own once Redis is gone: calls are neither refused for that nor
// unlimited.
func TestServersOutliveRedis(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	redis := testkit.Redis(t)
	nodes := []*node{p.serve("--redis-url", redis), p.serve("--redis-url", redis)}
	c := p.client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	// tally makes a number of calls alternately at both servers, within a minute, and counts the answers by status.
	tally := func(calls int, call func(n *node) (answer, error)) map[int]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		out, slots := map[int]int{}, make(chan struct{}, 20)
		for i := range calls {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				res, err := call(nodes[i%2])
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				out[res.status]++
			})
		}
		wg.Wait()
		return out
	}
	began := time.Now()
	signIns := tally(900, func(n *node) (answer, error) { return send(c, "GET", n.base+"/login", "", "") })
	if time.Since(began) < time.Minute {
		require.Equal(t, map[int]int{http.StatusSeeOther: 600, http.StatusTooManyRequests: 300}, signIns, "600 a minute over both")
	}

	client, err := ratelimit.OpenRedis(redis, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Error(t, client.ShutdownNoSave(t.Context()).Err(), "it says nothing any more")
	require.NoError(t, client.Close())
	free := p.object("company", "create", "--name", "Free", "--plan", "free", "--owner-email", "free@example.org")
	began = time.Now()
	calls := tally(200, func(n *node) (answer, error) {
		return send(c, "GET", n.base+"/v1/services?pageSize=1", free["liveKey"].(string), "")
	})
	if time.Since(began) < time.Minute {
		require.Equal(t, map[int]int{http.StatusOK: 120, http.StatusTooManyRequests: 80}, calls, "60 a minute at each")
	}
	for _, n := range nodes {
		require.Equal(t, 1, strings.Count(n.err.String(), "Redis does not answer"), n.err.String())
	}
}

// span is the time from a call to its answer.
type span struct{ began, ended time.Time }

func TestPlainHTTPIsRefused(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve()
	first := p.firstRun()
	address := strings.TrimPrefix(n.base, "https://")
	requests := countRows(t, p, "requests")
	for _, call := range []string{
		"GET /v1/requests HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + first.LiveKey + "\r\n\r\n",
		"POST /v1/requests HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + first.LiveKey + "\r\nContent-Length: 2\r\n\r\n{}",
		"GET / HTTP/1.0\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = conn.Write([]byte(call))
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NoError(t, conn.Close())
		require.Equal(t, 403, res.StatusCode)
		require.Contains(t, res.Header.Get("Content-Type"), "application/json")
		refusal := decode(t, body.String())
		require.Equal(t, "https_required", refusal["error"])
		require.NotEmpty(t, refusal["message"])
	}
	require.Equal(t, requests, countRows(t, p, "requests"))
}

// After the certificate is replaced, new connections get the new one, without a restart and without breaking existing
// connections.
func TestReplacedCertificate(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	cert, key := filepath.Join(t.TempDir(), "tls.pem"), filepath.Join(t.TempDir(), "key.pem")
	writePair(t, cert, key, 1)
	n := p.serve("--tls-cert", cert, "--tls-key", key)
	require.NoFileExists(t, filepath.Join(p.data, "ca.pem"), "a CA was made that nobody asked for")
	require.Empty(t, p.firstRun().CAFile)
	line, _ := n.out.line("curl")
	require.NotContains(t, line, "--cacert")
	serial := func() int64 {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(n.base, "https://"), &tls.Config{InsecureSkipVerify: true}) // only reads the serial number
		if err != nil {
			return 0
		}
		defer conn.Close() //nolint:errcheck // only looked at
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	require.EqualValues(t, 1, serial())
	writePair(t, cert, key, 2)
	require.Eventually(t, func() bool { return serial() == 2 }, patience, 50*time.Millisecond)
}

func writePair(t testing.TB, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "atrium"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, &x509.Certificate{Subject: pkix.Name{CommonName: "atrium"}}, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		require.NoError(t, os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
}

// maxIdle limits the memory of an idle server with the demo company, in MiB. The touched pages of the executable, some 90 to 100
// MiB, are not counted: their resident size depends on how large the pieces are in which the system caches the file, and the
// system reclaims them when needed.
const maxIdle = 60

func TestIdleMemory(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"first", "second"} {
		t.Run(start, func(t *testing.T) {
			p := onSQLite(t)
			n := p.serve()
			if start == "second" {
				require.Zero(t, n.stop())
				n = p.serve()
			}
			runCurl(t, n)
			settled := time.Now().Add(5 * time.Second) // a server counts as idle after five seconds; no event marks it
			var own, rss, peak int
			require.Eventually(t, func() bool {
				own, rss, peak = n.memory()
				return time.Now().After(settled)
			}, patience, 250*time.Millisecond)
			t.Logf("%s start: %d MiB of memory, %d MiB resident, %d MiB at most", start, own, rss, peak)
			require.LessOrEqual(t, own, maxIdle)
		})
	}
}

// memory returns the process's resident memory in MiB: its own, that including the pages of its executable, and the peak.
func (n *node) memory() (own, rss, peak int) {
	n.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	require.NoError(n.t, err)
	for line := range strings.Lines(string(b)) {
		var kib int
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kib); err == nil {
			own = kib / 1024
		}
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			rss = kib / 1024
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			peak = kib / 1024
		}
	}
	require.NotZero(n.t, own)
	return own, rss, peak
}
