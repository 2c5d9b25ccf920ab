package main_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkFloodOfPasswords measures how long reads of the API take during a flood of wrong passwords from many addresses. It
// compares them with the same reads on a quiet server (ratio, which must stay below 2), and with reads while the same addresses
// request pages without hashing at the same rate (over-pages), because the flooding clients also use this machine. A ratio is
// that of the 99th percentiles of one turn; the median of all turns is reported.
func BenchmarkFloodOfPasswords(b *testing.B) {
	p := onSQLite(b)
	n := p.serve()
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "1000000", "--per-day", "100000000")
	const turn = 3 * time.Second
	read := func() float64 { return ms(percentile(readFor(n, first.LiveKey, turn), 99)) }
	read() // excludes the extra cost of the first read
	var quiets, floods, ratios, overPages, rates []float64
	for b.Loop() {
		quiet := read()
		passwords := begin(n, first.OAuthClient.ClientID, 0, wrongPassword)
		before, began := passwords.done.Load(), time.Now()
		flooded := read()
		rate := float64(passwords.done.Load()-before) / time.Since(began).Seconds()
		passwords.stop()
		require.Positive(b, rate)
		pages := begin(n, first.OAuthClient.ClientID, time.Duration(float64(time.Second)/rate), signInPage)
		paged := read()
		pages.stop()
		quiets, floods, rates = append(quiets, quiet), append(floods, flooded), append(rates, rate)
		ratios, overPages = append(ratios, flooded/quiet), append(overPages, flooded/paged)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(quiets, 50), "quiet-p99-ms")
	b.ReportMetric(percentile(floods, 50), "flood-p99-ms")
	b.ReportMetric(percentile(ratios, 50), "ratio")
	b.ReportMetric(percentile(overPages, 50), "over-pages")
	b.ReportMetric(percentile(rates, 50), "passwords/s")
}

// readFor reads a page of requests on four connections for a time, at a fixed rate, and returns the duration of each read.
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

// crowd is a group of anonymous callers that request the sign-in pages.
type crowd struct {
	done atomic.Int64 // visits that were answered
	pace <-chan time.Time
	end  context.CancelFunc
	wg   sync.WaitGroup
}

func (c *crowd) stop() {
	c.end()
	c.wg.Wait()
}

// visit is what a caller does at the sign-in page. It returns false unless the answer was as expected.
type visit func(ctx context.Context, c *http.Client, n *node, csrf, action, who string) bool

// triesEach is the number of visits from one address before another takes its place. It is low enough that the throttle does not
// apply, so that each guess costs a hash, and that new connections are part of the flood.
const triesEach = 10

// begin starts callers from 32 addresses at a time, which make one visit per tick of pace, or without pace as fast as they are
// answered. It returns when they have started.
func begin(n *node, clientID string, pace time.Duration, do visit) *crowd {
	ctx, cancel := context.WithCancel(n.t.Context())
	all := &crowd{end: cancel}
	if pace > 0 {
		ticker := time.NewTicker(pace)
		all.pace = ticker.C
		context.AfterFunc(ctx, ticker.Stop)
	}
	for i := range 32 {
		all.wg.Go(func() {
			for host := 1; ctx.Err() == nil; host = host%250 + 1 {
				all.knock(ctx, n, clientID, net.IPv4(127, 1, byte(i+1), byte(host)), do)
			}
		})
	}
	for all.done.Load() < 32 && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	return all
}

// knock opens the sign-in page from an address and visits it triesEach times.
func (c *crowd) knock(ctx context.Context, n *node, clientID string, from net.IP, do visit) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return
	}
	client := n.client()
	client.Jar = jar
	client.Transport.(*http.Transport).DialContext = (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext
	defer client.CloseIdleConnections()
	page, _, err := fetch(ctx, client, http.MethodGet, n.base+"/oauth2/authorize?"+url.Values{
		"client_id": {clientID}, "redirect_uri": {"http://127.0.0.1/callback"}, "response_type": {"code"}, "scope": {"openid"},
		"code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"},
	}.Encode(), "")
	csrf, action := csrfField.FindStringSubmatch(page), formAction.FindStringSubmatch(page)
	if err != nil || csrf == nil || action == nil {
		return
	}
	for i := range triesEach {
		if c.pace != nil {
			select {
			case <-c.pace:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		if do(ctx, client, n, csrf[1], strings.ReplaceAll(action[1], "&amp;", "&"), fmt.Sprintf("nobody-%d-%s@x.test", i, from)) {
			c.done.Add(1)
		}
	}
}

// wrongPassword tries a wrong password.
func wrongPassword(ctx context.Context, c *http.Client, n *node, csrf, action, who string) bool {
	form := url.Values{"csrf": {csrf}, "email": {who}, "password": {"not the password"}}
	_, status, err := fetch(ctx, c, http.MethodPost, n.base+action, form.Encode())
	return err == nil && (status == http.StatusUnprocessableEntity || status == http.StatusServiceUnavailable)
}

// signInPage requests the page without a password.
func signInPage(ctx context.Context, c *http.Client, n *node, _, action, _ string) bool {
	_, status, err := fetch(ctx, c, http.MethodGet, n.base+strings.Replace(action, "/signin/password", "/signin", 1), "")
	return err == nil && status == http.StatusOK
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

func percentile[N time.Duration | float64](all []N, p int) N {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[(len(all)-1)*p/100]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
