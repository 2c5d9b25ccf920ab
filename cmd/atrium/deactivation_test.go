package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atOnce is far below the minute within which a deactivated person's access must end on every node.
const atOnce = 2 * time.Second

// When a person is deactivated on one of two nodes, what they got by signing in ends on both, and stays ended after they are
// reactivated. Their API keys keep working, and the answer names them.
func TestDeactivationOnTwoNodes(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	a := p.serve()
	b := a.beside()
	first := p.firstRun()
	c := p.client()
	owner := p.token(first.Company.ID, first.Owner.Email)
	p.object("user", "invite", "--company", first.Company.ID, "--email", "leaver@demo.example", "--role", "agent")
	leaver := p.token(first.Company.ID, "leaver@demo.example")
	key, ok := p.object("key", "create", "--company", first.Company.ID, "--name", "Leaver's", "--scopes", "requests:read", "--user", "leaver@demo.example")["value"].(string)
	require.True(t, ok)
	for _, n := range []*node{a, b} {
		n.call(c, 200, "GET", "/v1/requests", leaver, "") // so that this node caches it
		n.call(c, 200, "GET", "/v1/requests", key, "")
	}
	viewer, ok := a.graphQL(leaver, `{ viewer { id } }`, nil)["viewer"].(map[string]any)
	require.True(t, ok)

	data := a.graphQL(owner, `mutation ($id: ID!) { deactivateUser(input: {id: $id}) { user { status } remainingApiKeys { name } } }`, map[string]any{"id": viewer["id"]})
	done := time.Now()
	require.Equal(t, map[string]any{
		"user": map[string]any{"status": "deactivated"}, "remainingApiKeys": []any{map[string]any{"name": "Leaver's"}},
	}, data["deactivateUser"])
	a.call(c, 401, "GET", "/v1/requests", leaver, "")
	require.Eventually(t, func() bool {
		res, err := send(c, "GET", b.base+"/v1/requests", leaver, "")
		return err == nil && res.status == 401
	}, atOnce, time.Millisecond)
	t.Logf("the other node refused the token after %v", time.Since(done))
	for _, n := range []*node{a, b} {
		n.call(c, 200, "GET", "/v1/requests", key, "")
	}

	a.graphQL(owner, `mutation ($id: ID!) { reactivateUser(input: {id: $id}) { user { status } } }`, map[string]any{"id": viewer["id"]})
	a.call(c, 401, "GET", "/v1/requests", leaver, "")
	a.call(c, 200, "GET", "/v1/requests", p.token(first.Company.ID, "leaver@demo.example"), "")
}

// token returns an access token for a person, issued by the operator.
func (p place) token(company, email string) string {
	p.t.Helper()
	token, ok := p.object("token", "create", "--company", company, "--user", email)["accessToken"].(string)
	require.True(p.t, ok)
	return token
}
