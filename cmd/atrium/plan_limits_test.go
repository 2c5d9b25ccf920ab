package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A change of plan applies at once on the node that made it, and on other nodes as soon as the database has announced it.
func TestLimitsFollowThePlanOnEveryNode(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	a, b := p.serve("--no-demo"), p.serve("--no-demo")
	made := p.object("company", "create", "--name", "Grows", "--plan", "free", "--owner-email", "grows@example.org")
	company, key := made["company"].(map[string]any)["id"].(string), made["liveKey"].(string)
	token := p.object("token", "create", "--company", company, "--user", "grows@example.org", "--ttl", "1h")["accessToken"].(string)
	c := p.client()
	limits := func(n *node) string {
		return n.call(c, 200, "GET", "/v1/services?pageSize=1", key, "").header.Get("RateLimit-Policy")
	}
	for _, n := range []*node{a, b} {
		require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, limits(n))
	}
	b.graphQL(token, `mutation { changePlan(input: {plan: growth}) { company { plan } } }`, nil)
	for _, n := range []*node{a, b} {
		require.Eventually(t, func() bool { return limits(n) == `"minute";q=300;w=60, "day";q=200000;w=86400` }, patience, 100*time.Millisecond)
	}
	b.graphQL(token, `mutation { cancelSubscription(input: {}) { company { plan } } }`, nil)
	for _, n := range []*node{a, b} {
		require.Eventually(t, func() bool { return limits(n) == `"minute";q=60;w=60, "day";q=10000;w=86400` }, patience, 100*time.Millisecond)
	}
}
