package main_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkFloodOfPasswords measures how long reads of the API take while wrong passwords pour in from many addresses,
// against the same reads on a quiet server, in turns. The ratio of their 99th percentiles is to stay below 2.
func BenchmarkFloodOfPasswords(b *testing.B) {
	p := place{t: b, data: filepath.Join(b.TempDir(), "data")}
	n := p.serve()
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "1000000", "--per-day", "100000000")
	quiet, flooded := []time.Duration{}, []time.Duration{}
	var tried atomic.Int64
	for b.Loop() {
		quiet = append(quiet, readFor(n, first.LiveKey, 3*time.Second)...)
		stop := flood(n, first.OAuthClient.ClientID, &tried)
		flooded = append(flooded, readFor(n, first.LiveKey, 3*time.Second)...)
		stop()
	}
	require.NotZero(b, tried.Load())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(percentile(quiet, 99)), "quiet-p99-ms")
	b.ReportMetric(ms(percentile(flooded, 99)), "flood-p99-ms")
	b.ReportMetric(ms(percentile(flooded, 99))/ms(percentile(quiet, 99)), "ratio")
	b.ReportMetric(float64(tried.Load())/float64(b.N), "passwords/op")
}

// readFor reads a page of requests on four connections for a time, at a pace, and returns how long each read took.
func readFor(n *node, key string, d time.Duration) []time.Duration {
	n.t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range 4 {
		c := n.client()
		wg.Go(func() {
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for time.Now().Before(end) {
				<-pace.C
				began := time.Now()
				a, err := send(c, "GET", n.base+"/v1/requests?pageSize=5", key, "")
				took := time.Since(began)
				if err != nil || a.status != 200 {
					n.t.Errorf("%v %d", err, a.status)
					return
				}
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

var (
	csrfField  = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
)

// flood tries wrong passwords from 32 addresses of this machine until it is stopped. Each address gives way to another
// one before the throttle holds it back, so that what is tried costs what a guess costs.
func flood(n *node, clientID string, tried *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(n.t.Context())
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for host := 1; ctx.Err() == nil; host = host%250 + 1 {
				guess(ctx, n, clientID, net.IPv4(127, 1, byte(i+1), byte(host)), tried)
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// guess opens the sign-in page from an address and posts a good part of the passwords that it may try.
func guess(ctx context.Context, n *node, clientID string, from net.IP, tried *atomic.Int64) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return
	}
	c := n.client()
	c.Jar = jar
	c.Transport.(*http.Transport).DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext
	defer c.CloseIdleConnections()
	page, _, err := fetch(ctx, c, http.MethodGet, n.base+"/oauth2/authorize?"+url.Values{
		"client_id": {clientID}, "redirect_uri": {"http://127.0.0.1/callback"}, "response_type": {"code"}, "scope": {"openid"},
		"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"},
	}.Encode(), "")
	csrf, action := csrfField.FindStringSubmatch(page), formAction.FindStringSubmatch(page)
	if err != nil || csrf == nil || action == nil {
		return
	}
	for i := 0; i < 80 && ctx.Err() == nil; i++ {
		form := url.Values{"csrf": {csrf[1]}, "email": {fmt.Sprintf("nobody-%d-%s@x.test", i, from)}, "password": {"not the password"}}
		_, status, err := fetch(ctx, c, http.MethodPost, n.base+strings.ReplaceAll(action[1], "&amp;", "&"), form.Encode())
		if err == nil && (status == http.StatusUnprocessableEntity || status == http.StatusServiceUnavailable) {
			tried.Add(1)
		}
	}
}

func fetch(ctx context.Context, c *http.Client, method, to, form string) (body string, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(form))
	if err != nil {
		return "", 0, err
	}
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := c.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), res.StatusCode, err
}

func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[(len(all)-1)*p/100]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
