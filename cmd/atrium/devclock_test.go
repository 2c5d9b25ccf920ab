package main_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// advance moves the product's time forward and returns the new time.
func (n *node) advance(by string) time.Time {
	n.t.Helper()
	a, err := send(n.client(), "POST", n.admin+"/dev/clock", "", `{"advance":"`+by+`"}`)
	require.NoError(n.t, err)
	require.Equal(n.t, 200, a.status, a.body)
	now, err := time.Parse(time.RFC3339, decode(n.t, a.body)["now"].(string))
	require.NoError(n.t, err)
	return now
}

func TestDevelopmentClock(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve("--dev-clock")
		first, c := p.firstRun(), p.client()
		require.Contains(t, n.err.String(), "never use this in production")
		create := func(title, idempotencyKey string) (string, bool) {
			body := first.laptop(title)
			a := n.call(c, 201, "POST", "/v1/requests", first.LiveKey, body, "Idempotency-Key", idempotencyKey)
			data := decode(t, a.body)["data"].(map[string]any)
			return data["id"].(string), true
		}

		// The rate limit's window of a minute.
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "2")
		n.advance("61s") // starts a new window
		for range 2 {
			n.call(c, 200, "GET", "/v1/services", first.LiveKey, "")
		}
		n.call(c, 429, "GET", "/v1/services", first.LiveKey, "")
		n.advance("61s")
		n.call(c, 200, "GET", "/v1/services", first.LiveKey, "")
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "0")

		// Tokens and keys expire; commands use the same time.
		token := func() string {
			made := p.object("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email, "--ttl", "1h")
			at, err := time.Parse(time.RFC3339, made["expiresAt"].(string))
			require.NoError(t, err)
			require.WithinDuration(t, n.advance("1s").Add(time.Hour), at, time.Minute)
			return made["accessToken"].(string)
		}
		bearer := token()
		made := p.object("key", "create", "--company", first.Company.ID, "--name", "short", "--scopes", "services:read", "--expires", "90m")
		key := made["value"].(string)
		n.advance("30m")
		n.call(c, 200, "GET", "/v1/services", bearer, "")
		n.advance("30m")
		n.call(c, 401, "GET", "/v1/services", bearer, "")
		n.call(c, 200, "GET", "/v1/services", key, "")
		n.advance("30m")
		n.call(c, 401, "GET", "/v1/services", key, "")

		// An idempotency key is kept for a day. The sweep has deleted it when the clock's answer arrives.
		id, _ := create("once", "k1")
		again, _ := create("once", "k1")
		require.Equal(t, id, again)
		n.advance("23h")
		again, _ = create("once", "k1")
		require.Equal(t, id, again)
		require.Equal(t, 1, countRows(t, p, "idempotency_keys"))
		n.advance("61m")
		require.Zero(t, countRows(t, p, "idempotency_keys"), "the answer came before the due jobs had run")
		later, _ := create("once", "k1")
		require.NotEqual(t, id, later)

		// The offset survives a restart, with and without the flag.
		now := n.advance("1s")
		n.kill()
		n = p.serve()
		bearer = p.object("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email, "--ttl", "1h")["accessToken"].(string)
		a := n.call(c, 200, "GET", "/v1/requests/"+later, bearer, "")
		at, err := time.Parse(time.RFC3339, decode(t, a.body)["data"].(map[string]any)["createdAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, now, at, time.Minute)
		last, _ := create("after the restart", "k2")
		a = n.call(c, 200, "GET", "/v1/requests/"+last, first.LiveKey, "")
		at, err = time.Parse(time.RFC3339, decode(t, a.body)["data"].(map[string]any)["createdAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, now, at, time.Minute)
		refused, err := send(c, "POST", n.admin+"/dev/clock", "", `{"advance":"1h"}`)
		require.NoError(t, err)
		require.Equal(t, 404, refused.status)
	})
}

func TestDevelopmentClockInput(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve("--dev-clock", "--no-demo")
	c := p.client()
	for _, body := range []string{
		"", "{}", "null", "[]", `"30m"`, `{"advance":""}`, `{"advance":"0s"}`, `{"advance":"-30m"}`, `{"advance":"30"}`, `{"advance":30}`,
		`{"advance":null}`, `{"advance":"half an hour"}`, `{"advance":"1d"}`, `{"advance":"30m"} ` + "x", `{"advance":"30m"}{"advance":"30m"}`,
		`{"advance":"30m","advance":"30m"}`, `{"advance":"30m","back":"1m"}`, `{"Advance":"30m"}`, `{"advance":"900000h"}`,
		`{"advance":"99999999999999h"}`, `{"advance":"` + strings.Repeat("0", 2000) + `1s"}`,
	} {
		a, err := send(c, "POST", n.admin+"/dev/clock", "", body)
		require.NoError(t, err)
		require.Equal(t, 400, a.status, "%s: %s", body, a.body)
	}
	a, err := send(c, "GET", n.admin+"/dev/clock", "", "")
	require.NoError(t, err)
	require.Equal(t, 405, a.status)
	require.WithinDuration(t, time.Now(), n.advance("1ns"), 10*time.Second, "a refused call moved the clock")

	// Concurrent calls add up, and time never goes back for any caller.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a, err := send(c, "POST", n.admin+"/dev/clock", "", `{"advance":"1h"}`)
			if err != nil || a.status != 200 {
				t.Errorf("%v: %d %s", err, a.status, a.body)
			}
		})
	}
	wg.Wait()
	require.WithinDuration(t, time.Now().Add(8*time.Hour), n.advance("1ns"), time.Minute)
}

// A node follows the clock that another node moved.
func TestDevelopmentClockOfTwoNodes(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	a := p.serve("--dev-clock", "--role", "api")
	b := p.serve("--dev-clock", "--role", "worker")
	first := p.firstRun()
	require.Equal(t, a.base, b.base, "a worker's ready line names the API")
	body := first.laptop("x")
	a.call(p.client(), 201, "POST", "/v1/requests", first.LiveKey, body, "Idempotency-Key", "k")
	b.advance("25h") // the worker's own clock moves at once
	require.Zero(t, countRows(t, p, "idempotency_keys"))
	require.Eventually(t, func() bool {
		res := a.call(p.client(), 201, "POST", "/v1/requests", first.LiveKey, body)
		at, err := time.Parse(time.RFC3339, decode(t, res.body)["data"].(map[string]any)["createdAt"].(string))
		return err == nil && time.Until(at) > 24*time.Hour
	}, patience, 50*time.Millisecond)
}
