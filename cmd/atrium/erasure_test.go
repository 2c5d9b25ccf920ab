package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gone limits the time until nothing of an erased person is left in SQLite's files.
const gone = 30 * time.Second

// When a person is erased, their name and what they wrote appear nowhere in the database. The rows and the audit log's proofs
// remain valid, and what others wrote stays.
func TestErasePerson(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		c := n.client()
		co := first.Company.ID
		owner := p.token(co, first.Owner.Email)
		admin := p.addUser(co, "admin@demo.example", "admin")
		zaphod := p.addUser(co, "Zaphod.Beeblebrox@galaxy.example", "agent")
		viewer := under(t, n.graphQL(zaphod, `{ viewer { id } }`, nil), "viewer")
		id := viewer["id"]
		n.graphQL(owner, `mutation ($id: ID!) { updateUser(input: {id: $id, name: "Zaphod Quintessimus", attributes: {nick: "Zaphodster"}}) { user { id } } }`, map[string]any{"id": id})
		key := p.object("key", "create", "--company", co, "--name", "Zaphod's laptop", "--scopes", "requests:read,requests:write", "--user", "zaphod.beeblebrox@galaxy.example")["value"].(string)

		file := func(as, offering, title, text, fields string, header ...string) string {
			o := n.offering(owner, offering)
			body := fmt.Sprintf(`{"serviceId":%q,"offeringId":%q,"title":%q,"description":%q,"fields":%s,"tags":{"about":%[4]q}}`, o.service, o.id, title, text, fields)
			return under(t, decode(t, n.call(c, 201, "POST", "/v1/requests", as, body, header...).body), "data")["id"].(string)
		}
		hire := file(zaphod, "Onboard an employee", "Heart-of-Gold crew", "said to Marvin", `{"name":"Trillian Astra","firstDay":"2031-01-01"}`, "Idempotency-Key", "crew")
		broken := file(key, "Report an incident", "Vogon poetry is heard", "improbable", `{"affected":3}`)
		others := file(owner, "Report an incident", "The coffee is cold", "", `{"affected":3}`)
		n.call(c, 200, "PATCH", "/v1/requests/"+hire, zaphod, `{"title":"Heart-of-Gold crew, again"}`)
		n.call(c, 201, "POST", "/v1/requests/"+others+"/comments", key, `{"body":"Ask Slartibartfast."}`)
		n.call(c, 201, "POST", "/v1/requests/"+hire+"/comments", owner, `{"body":"Who is this for?"}`)
		n.call(c, 403, "DELETE", "/v1/services/"+n.offering(owner, "Report an incident").service, zaphod, "")
		for _, request := range []string{hire, broken} { // both workflows have reached the step that waits for people
			require.Eventually(t, func() bool {
				return len(n.openTasks(owner, request)) > 0 || len(n.list(owner, "/v1/approvals?requestId="+request)) > 0
			}, patience, step)
		}

		erase := `mutation ($id: ID!) { erasePerson(input: {userId: $id, reason: "asked by letter"}) { user { id name email status teamIds } } }`
		require.Contains(t, n.refusal(admin, erase, map[string]any{"id": id}), "forbidden")
		me := under(t, n.graphQL(owner, `{ viewer { id } }`, nil), "viewer")["id"]
		require.Contains(t, n.refusal(owner, erase, map[string]any{"id": me}), "conflict", "the last owner")
		before := p.object("audit", "verify", "--company", co)
		nobody := map[string]any{"user": map[string]any{"id": id, "name": "[erased]", "email": id.(string) + "@erased.invalid", "status": "erased", "teamIds": []any{}}}
		require.Equal(t, nobody, n.graphQL(owner, erase, map[string]any{"id": id})["erasePerson"])
		began := time.Now()
		require.Equal(t, nobody, n.graphQL(owner, erase, map[string]any{"id": id})["erasePerson"], "once more changes nothing")
		n.call(c, 401, "GET", "/v1/requests", zaphod, "")
		n.call(c, 401, "GET", "/v1/requests", key, "")
		for _, again := range []string{"reactivateUser", "deactivateUser"} {
			require.Contains(t, n.refusal(owner, `mutation ($id: ID!) { `+again+`(input: {id: $id}) { user { id } } }`, map[string]any{"id": id}), "conflict")
		}

		for left := []string{""}; len(left) > 0; time.Sleep(500 * time.Millisecond) {
			left = p.holding(t, "beeblebrox", "quintessimus", "zaphod", "trillian", "heart-of-gold", "vogon", "marvin", "improbable", "slartibartfast")
			require.True(t, len(left) == 0 || time.Since(began) < gone, "%q", left)
		}
		t.Logf("nothing was left after %v", time.Since(began).Round(time.Second))

		after := p.object("audit", "verify", "--company", co)
		require.Equal(t, true, after["intact"], "%v", after)
		require.Greater(t, after["erased"], before["erased"])
		require.Contains(t, n.call(c, 200, "GET", "/v1/audit?action=user.erased", owner, "").body, "asked by letter")
		r := under(t, decode(t, n.call(c, 200, "GET", "/v1/requests/"+hire, owner, "").body), "data")
		require.Equal(t, []any{"[erased]", "CANCELLED", id}, []any{r["title"], r["status"], r["createdBy"]})
		said := n.call(c, 200, "GET", "/v1/requests/"+hire+"/comments", owner, "").body
		require.Contains(t, said, "Who is this for?")
		require.Contains(t, n.call(c, 200, "GET", "/v1/requests/"+others+"/comments", owner, "").body, `"body":"[erased]"`)
		require.Equal(t, 200, n.call(c, 200, "GET", "/v1/executions/"+r["executionId"].(string), owner, "").status)
		require.Contains(t, n.call(c, 200, "GET", "/v1/users?status=erased", owner, "").body, id.(string))
		p.addUser(co, "zaphod.beeblebrox@galaxy.example", "member") // the address can be used again
	})
}

// Values in audit entries are erased when they are older than the company's retention; the log's proofs remain valid.
func TestRetention(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve("--dev-clock")
		first := p.firstRun()
		co := first.Company.ID
		owner := p.token(co, first.Owner.Email)
		n.graphQL(owner, `mutation { updateCompany(input: {name: "Sirius Cybernetics"}) { company { id } } }`, nil)
		p.refused([]string{"--audit", "36500d"}, "company", "retention", "--company", co, "--audit", "400")
		require.Equal(t, float64(400), under(t, p.object("company", "retention", "--company", co, "--audit", "400d"), "company")["auditDays"])
		entries := func() string {
			return n.call(n.client(), 200, "GET", "/v1/audit?pageSize=100", p.token(co, first.Owner.Email), "").body
		}
		n.advance("9000h") // 375 days
		require.Contains(t, entries(), "Sirius Cybernetics")
		n.advance("1200h")
		require.Eventually(t, func() bool { return !strings.Contains(entries(), "Sirius Cybernetics") }, patience, 100*time.Millisecond)
		verified := p.object("audit", "verify", "--company", co)
		require.Equal(t, true, verified["intact"], "%v", verified)
		require.Contains(t, p.ok("company", "retention", "--company", co, "--audit", "off"), "for ever")
	})
}

// step is the pause between two polls.
const step = 50 * time.Millisecond

type offered struct{ service, id string }

// offering returns an offering of the demo company by its name.
func (n *node) offering(credential, name string) offered {
	n.t.Helper()
	for _, s := range edges(n.t, n.graphQL(credential, `{ services { edges { node { id offerings { edges { node { id name } } } } } } }`, nil)["services"]) {
		for _, o := range edges(n.t, s["offerings"]) {
			if o["name"] == name {
				return offered{s["id"].(string), o["id"].(string)}
			}
		}
	}
	require.FailNow(n.t, "there is no offering "+name)
	return offered{}
}

// list returns the rows of a REST list.
func (n *node) list(credential, path string) []any {
	n.t.Helper()
	return decode(n.t, n.call(n.client(), http.StatusOK, "GET", path, credential, "").body)["data"].([]any)
}

// openTasks returns a request's open tasks.
func (n *node) openTasks(credential, request string) []any {
	n.t.Helper()
	return n.list(credential, "/v1/tasks?status=OPEN&requestId="+request)
}

// openTask waits until a request has an open task and returns its id.
func (n *node) openTask(credential, request string) string {
	n.t.Helper()
	require.Eventually(n.t, func() bool { return len(n.openTasks(credential, request)) > 0 }, patience, step)
	return n.openTasks(credential, request)[0].(map[string]any)["id"].(string)
}

// addUser invites a user and returns an access token for them.
func (p place) addUser(company, email, role string) string {
	p.t.Helper()
	p.object("user", "invite", "--company", company, "--email", email, "--role", role)
	return p.token(company, email)
}

// refusal runs a GraphQL operation that must fail, and returns the error's message.
func (n *node) refusal(credential, query string, variables map[string]any) string {
	n.t.Helper()
	a := n.call(n.client(), http.StatusOK, "POST", "/graphql", credential, encode(n.t, map[string]any{"query": query, "variables": variables}))
	require.Contains(n.t, a.body, `"errors"`)
	return a.body
}

// encode returns a value as JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// under returns the object at a key.
func under(t testing.TB, v map[string]any, key string) map[string]any {
	t.Helper()
	out, ok := v[key].(map[string]any)
	require.True(t, ok, "%s of %v", key, v)
	return out
}

// edges returns the nodes of a connection.
func edges(t testing.TB, connection any) (nodes []map[string]any) {
	t.Helper()
	c, ok := connection.(map[string]any)
	require.True(t, ok, "%v", connection)
	for _, e := range c["edges"].([]any) {
		nodes = append(nodes, under(t, e.(map[string]any), "node"))
	}
	return nodes
}

// holding returns those of the lower-case texts that the database still contains in any case: it searches SQLite's files byte by
// byte, and every column of PostgreSQL's tables.
func (p place) holding(t *testing.T, texts ...string) (out []string) {
	t.Helper()
	if p.url == "" {
		for _, name := range []string{"/atrium.db", "/atrium.db-wal"} {
			b, err := os.ReadFile(p.data + name)
			require.NoError(t, err)
			b = bytes.ToLower(b)
			for _, text := range texts {
				if i := bytes.Index(b, []byte(text)); i >= 0 {
					out = append(out, fmt.Sprintf("%s in %s: %q", text, name, b[max(0, i-200):min(len(b), i+100)]))
				}
			}
		}
		return out
	}
	for _, body := range column(t, p, "SELECT convert_from(body, 'UTF8') FROM idempotency_keys") {
		for _, text := range texts {
			if strings.Contains(strings.ToLower(body), text) {
				out = append(out, "a kept answer: "+body)
			}
		}
	}
	tables := column(t, p, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1")
	for _, table := range tables {
		for _, row := range column(t, p, fmt.Sprintf("SELECT t::text FROM %q t WHERE t::text ~* '%s'", table, strings.Join(texts, "|"))) {
			out = append(out, table+": "+row)
		}
	}
	return out
}
