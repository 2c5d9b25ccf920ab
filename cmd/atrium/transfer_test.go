package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A company moves from SQLite to PostgreSQL and to another SQLite, into installations that have other companies. Its keys,
// answers and proofs remain valid there, and its workflows continue. A refused import leaves nothing behind.
func TestCompanyMoves(t *testing.T) {
	t.Parallel()
	here := onSQLite(t)
	n := here.serve()
	first := here.firstRun()
	co, key := first.Company.ID, first.LiveKey
	c := n.client()
	owner := here.token(co, first.Owner.Email)
	id := func(a answer) string { return under(t, decode(t, a.body), "data")["id"].(string) }
	child := id(n.call(c, 201, "POST", "/v1/organizations", key, `{"name":"Deck"}`))
	parent := id(n.call(c, 201, "POST", "/v1/organizations", key, `{"name":"Ship"}`))
	n.call(c, 200, "PATCH", "/v1/organizations/"+child, key, `{"parentId":"`+parent+`"}`) // the parent's id is greater than the child's
	n.graphQL(owner, `mutation { createSecret(input: {allowedHosts: ["*"], name: "ANSWER", value: "forty-two"}) { secret { id } } }`, nil)
	subscribe := encode(t, map[string]any{"query": `mutation { createWebhookSubscription(input: {url: "https://receiver.example/", events: ["request.created"]}) { signingSecret } }`})
	subscribed := n.call(c, 200, "POST", "/graphql", owner, subscribe, "Idempotency-Key", "subscribe")
	require.Contains(t, subscribed.body, "whsec_")
	o := n.offering(owner, "Access for 90 days")
	body := fmt.Sprintf(`{"serviceId":%q,"offeringId":%q,"title":"Read the log","fields":{"system":"Audit","level":"read"}}`, o.service, o.id)
	filed := n.call(c, 201, "POST", "/v1/requests", key, body, "Idempotency-Key", "log")
	task := n.openTask(key, id(filed))
	n.call(c, 200, "POST", "/v1/tasks/"+task+"/complete", key, `{}`) // a timer of 90 days follows
	waits := id(n.call(c, 201, "POST", "/v1/requests", key, body))
	open := n.openTask(key, waits)
	require.Eventually(t, func() bool { return here.object("audit", "verify", "--company", co)["unsealed"] == 0.0 }, patience, step)

	passphrase := filepath.Join(t.TempDir(), "passphrase")
	require.NoError(t, os.WriteFile(passphrase, []byte("a towel, always\n"), 0o600))
	file := filepath.Join(t.TempDir(), "company")
	here.refused([]string{"--passphrase-file"}, "company", "export", "--company", co, "--to", file)
	moved := here.object("company", "export", "--company", co, "--to", file, "--passphrase-file", passphrase)
	here.refused([]string{"exists"}, "company", "export", "--company", co, "--to", file, "--passphrase-file", passphrase)
	sealed, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(sealed), "Read the log")
	proof := n.proof(owner)
	kept := filepath.Join(t.TempDir(), "checkpoints") // as this installation has signed them
	oldest := decode(t, n.call(c, 200, "GET", "/v1/audit?pageSize=1&sort=createdAt", owner, "").body)["data"].([]any)[0].(map[string]any)["id"]
	signed := under(t, n.graphQL(owner, `query($id: ID!) { auditProof(id: $id) { checkpoint } }`, map[string]any{"id": oldest}), "auditProof")["checkpoint"].(string)
	require.NoError(t, os.WriteFile(kept, []byte(signed), 0o600))

	there := onPostgres(t)
	m := there.serve("--dev-clock")
	companies := countRows(t, there, "companies")
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("a towel, never\n"), 0o600))
	there.refused([]string{"passphrase does not open"}, "company", "import", "--from", file, "--passphrase-file", other)
	cut := filepath.Join(t.TempDir(), "cut")
	require.NoError(t, os.WriteFile(cut, sealed[:len(sealed)-1000], 0o600))
	there.refused([]string{"not whole"}, "company", "import", "--from", cut, "--passphrase-file", passphrase)
	require.Equal(t, companies, countRows(t, there, "companies"), "nothing is left of what was refused")
	there.refused([]string{"plan: line", "--accept billing,plan,secret-hosts"}, "company", "import", "--from", file, "--passphrase-file", passphrase)
	require.Equal(t, companies, countRows(t, there, "companies"), "nothing is left of what was refused")
	imported := there.object("company", "import", "--from", file, "--passphrase-file", passphrase, "--accept", "plan,billing,secret-hosts")
	require.Equal(t, 4.0, imported["invited"], "the demo's people have accounts there")
	delete(imported, "invited")
	require.Equal(t, moved, imported)
	there.refused([]string{"here already"}, "company", "import", "--from", file, "--passphrase-file", passphrase)
	asked := edges(t, m.graphQL(there.token(co, first.Owner.Email), `{ users { edges { node { email status } } } }`, nil)["users"])
	require.Contains(t, asked, map[string]any{"email": first.Owner.Email, "status": "invited"})

	d := m.client()
	again := m.call(d, 201, "POST", "/v1/requests", key, body, "Idempotency-Key", "log")
	require.JSONEq(t, filed.body, again.body)
	again = m.call(d, 200, "POST", "/graphql", there.token(co, first.Owner.Email), subscribe, "Idempotency-Key", "subscribe")
	require.JSONEq(t, subscribed.body, again.body, "secrets that are shown once included")
	require.Equal(t, parent, under(t, decode(t, m.call(d, 200, "GET", "/v1/organizations/"+child, key, "").body), "data")["parentId"])
	require.Equal(t, proof, m.proof(there.token(co, first.Owner.Email)))
	require.Equal(t, true, there.object("audit", "verify", "--company", co, "--checkpoints", kept)["intact"])
	there.refused([]string{"holds no checkpoint"}, "audit", "verify", "--company", there.firstRun().Company.ID, "--checkpoints", kept)
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	there.refused([]string{"holds no checkpoint"}, "audit", "verify", "--checkpoints", other)
	there.refused([]string{"--key"}, "audit", "verify", "--key", "garbage")
	there.refused([]string{"--checkpoints"}, "audit", "verify", "--export", other, "--checkpoints", kept)
	require.Contains(t, under(t, there.object("audit", "key"), "former"), co)
	m.call(d, 200, "POST", "/v1/tasks/"+open+"/complete", key, `{}`)
	m.advance("2159h") // the timer is not due yet
	require.Empty(t, m.openTasks(key, id(filed)))
	m.advance("2h")
	require.Eventually(t, func() bool { return len(m.openTasks(key, id(filed))) == 1 }, patience, step, "the timer goes on")

	file = filepath.Join(t.TempDir(), "again")
	there.ok("company", "export", "--company", co, "--to", file, "--passphrase-file", passphrase)
	last := onSQLite(t) // a new installation
	last.ok("company", "import", "--from", file, "--passphrase-file", passphrase, "--accept", "plan,billing,secret-hosts")
	verified := last.object("audit", "verify", "--company", co) // no node runs there yet
	require.Equal(t, true, verified["intact"])
	require.Zero(t, verified["unsealed"])
	require.Equal(t, []any{publicKey(here), publicKey(there)}, under(t, last.object("audit", "key"), "former")[co])
	l := last.serve("--audit-checkpoints", kept) // goes on where the former installations stopped
	require.Equal(t, proof, l.proof(last.token(co, first.Owner.Email)))
	l.call(l.client(), 200, "GET", "/v1/requests/"+id(filed), key, "")
	require.Len(t, l.openTasks(key, id(filed)), 1)
}

// publicKey returns the public key with which an installation signs checkpoints.
func publicKey(p place) any { return p.object("audit", "key")["publicKey"] }

// proof returns the company's oldest audit entry as JSON, with its position and leaf hash.
func (n *node) proof(credential string) string {
	n.t.Helper()
	return encode(n.t, decode(n.t, n.call(n.client(), 200, "GET", "/v1/audit?pageSize=1&sort=createdAt", credential, "").body)["data"])
}
