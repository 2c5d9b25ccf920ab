package main_test

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// office is a running server with the demo company, on which commands run.
type office struct {
	*node
	first   firstRun
	company string
	client  *http.Client
}

// TestCommands runs every command while a server runs on the same data.
func TestCommands(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		o := &office{node: n, first: p.firstRun(), client: p.client()}
		o.company = o.first.Company.ID
		t.Run("group", func(t *testing.T) { // waits for the parallel subtests before the server stops
			for name, fn := range map[string]func(*testing.T, *office){
				"key create": keyCreate, "key revoke": keyRevoke, "key rotate": keyRotate, "token create": tokenCreate,
				"user invite": userInvite, "client create": clientCreate, "credit issue": creditIssue,
				"company create": companyCreate, "company limits": companyLimits, "search reindex": searchReindex, "refusals": refusals, "human": human,
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					mine, node := *o, *o.node
					node.t = t
					node.place.t = t
					mine.node = &node
					fn(t, &mine)
				})
			}
		})
		require.Zero(t, n.stop(), "%s", n.err)
		requireHealthy(t, p)
	})
}

// What was indexed before is found again, and so is what is filed meanwhile.
func searchReindex(t *testing.T, o *office) {
	require.Equal(t, true, o.object("search", "reindex")["ok"])
	require.Zero(t, countRows(t, o.place, "search_documents WHERE tokens = '' AND kind = 'user'"))
}

var keyShape = map[string]any{
	"id": "", "name": "", "prefix": "", "last4": "", "scopes": []any{}, "test": false, "expiresAt": nil,
}

func keyCreate(t *testing.T, o *office) {
	made := o.object("key", "create", "--company", o.company, "--name", "ERP, nightly", "--scopes", "services:read,requests:write")
	requireShape(t, map[string]any{"apiKey": keyShape, "value": ""}, made)
	key, value := made["apiKey"].(map[string]any), made["value"].(string)
	require.Equal(t, "ERP, nightly", key["name"])
	require.Equal(t, []any{"services:read", "requests:write"}, key["scopes"])
	require.Equal(t, false, key["test"])
	require.Nil(t, key["expiresAt"])
	require.True(t, strings.HasPrefix(value, "key_live_") && strings.HasSuffix(value, key["last4"].(string)))
	o.call(o.client, 200, "GET", "/v1/services", value, "")
	o.call(o.client, 403, "GET", "/v1/users", value, "")
	require.Equal(t, 1, countRows(t, o.place, "audit_entries WHERE action = 'apikey.created' AND actor_type = 'operator' AND resource_id = '"+key["id"].(string)+"'"))

	test := o.object("key", "create", "--company", o.company, "--name", "t", "--scopes", "services:read", "--test")
	require.Equal(t, true, test["apiKey"].(map[string]any)["test"])
	a := o.call(o.client, 200, "GET", "/v1/services", test["value"].(string), "")
	require.NotContains(t, a.body, o.first.Demo.ServiceID, "a test key reads live data")

	for expires, want := range map[string]time.Duration{"48h": 48 * time.Hour, time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339): 72 * time.Hour} {
		until := o.object("key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read", "--expires", expires)
		at, err := time.Parse(time.RFC3339, until["apiKey"].(map[string]any)["expiresAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(want), at, time.Minute)
	}
	o.refused([]string{"expiresAt", "future"}, "key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read", "--expires", "2020-01-01")
	o.refused([]string{"expiresAt"}, "key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read", "--expires=-1h")
	o.refused([]string{"expires"}, "key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read", "--expires", "tomorrow")
	o.refused([]string{"--scopes", `"services:fly"`, "services:write"}, "key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read,services:fly")
	o.refused([]string{"name"}, "key", "create", "--company", o.company, "--name", "  ", "--scopes", "services:read")
	o.refused([]string{"user"}, "key", "create", "--company", o.company, "--name", "e", "--scopes", "services:read", "--user", "nobody@demo.example")
	o.refused([]string{"--name"}, "key", "create", "--company", o.company, "--scopes", "services:read")

	// A key may do no more than its user.
	o.object("user", "invite", "--company", o.company, "--email", "mia@demo.example", "--role", "member")
	member := o.object("key", "create", "--company", o.company, "--name", "m", "--scopes", "services:read,services:write", "--user", "Mia@demo.example")
	o.call(o.client, 200, "GET", "/v1/services", member["value"].(string), "")
	o.call(o.client, 403, "POST", "/v1/services", member["value"].(string), `{"name":"Nothing a member makes"}`)
}

// hammer calls with the key from several goroutines until stopped, and returns when the last successful call began and how many
// calls were refused.
func (o *office) hammer(value string) (stop func() (lastAllowed time.Time, refused int64)) {
	var last, refused atomic.Int64
	done := make(chan struct{})
	ended := make(chan struct{}, 4)
	for range 4 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for {
				select {
				case <-done:
					return
				default:
				}
				began := time.Now().UnixNano()
				a, err := send(o.client, "GET", o.base+"/v1/services?pageSize=1", value, "")
				switch {
				case err != nil:
				case a.status == 200 || a.status == 429:
					for was := last.Load(); began > was && !last.CompareAndSwap(was, began); was = last.Load() {
					}
				case a.status == 401:
					refused.Add(1)
				}
			}
		}()
	}
	return func() (time.Time, int64) {
		for floor := refused.Load() + 50; refused.Load() < floor; { // so that some of them began after the command
			time.Sleep(time.Millisecond)
		}
		close(done)
		for range 4 {
			<-ended
		}
		return time.Unix(0, last.Load()), refused.Load()
	}
}

func keyRevoke(t *testing.T, o *office) {
	for range 3 {
		made := o.object("key", "create", "--company", o.company, "--name", "r", "--scopes", "services:read")
		id, value := made["apiKey"].(map[string]any)["id"].(string), made["value"].(string)
		o.call(o.client, 200, "GET", "/v1/services", value, "")
		stop := o.hammer(value)
		gone := o.object("key", "revoke", "--company", o.company, "--id", id)
		returned := time.Now()
		requireShape(t, map[string]any{"apiKey": keyShape}, gone)
		last, _ := stop()
		require.False(t, last.After(returned), "a call that began %s after the command had returned was let through", last.Sub(returned))
		o.ok("key", "revoke", "--company", o.company, "--id", id) // repeating it succeeds
		o.refused([]string{"revoked"}, "key", "rotate", "--company", o.company, "--id", id)
	}
	o.refused([]string{"not found"}, "key", "revoke", "--company", o.company, "--id", "key_01k00000000000000000000000")
}

func keyRotate(t *testing.T, o *office) {
	made := o.object("key", "create", "--company", o.company, "--name", "before", "--scopes", "services:read", "--expires", "48h")
	old := made["apiKey"].(map[string]any)
	stop := o.hammer(made["value"].(string))
	rotated := o.object("key", "rotate", "--company", o.company, "--id", old["id"].(string))
	returned := time.Now()
	last, _ := stop()
	require.False(t, last.After(returned), "a call that began %s after the command had returned was let through", last.Sub(returned))
	requireShape(t, map[string]any{"apiKey": keyShape, "value": ""}, rotated)
	now := rotated["apiKey"].(map[string]any)
	for _, same := range []string{"name", "scopes", "expiresAt", "test"} {
		require.Equal(t, old[same], now[same], same)
	}
	require.NotEqual(t, old["id"], now["id"])
	o.call(o.client, 200, "GET", "/v1/services", rotated["value"].(string), "")
}

func tokenCreate(t *testing.T, o *office) {
	owner := o.first.Owner.Email
	made := o.object("token", "create", "--company", o.company, "--user", owner, "--scopes", "services:read", "--ttl", "2h")
	requireShape(t, map[string]any{"accessToken": "", "expiresAt": ""}, made)
	at, err := time.Parse("2006-01-02T15:04:05.000Z", made["expiresAt"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(2*time.Hour), at, time.Minute)
	token := made["accessToken"].(string)
	o.call(o.client, 200, "GET", "/v1/services", token, "")
	o.call(o.client, 403, "GET", "/v1/users", token, "")
	all := o.object("token", "create", "--company", o.company, "--user", owner)
	for _, path := range []string{"services", "requests", "workflows", "users", "teams", "organizations", "secrets", "billing/credits", "audit"} {
		o.call(o.client, 200, "GET", "/v1/"+path, all["accessToken"].(string), "")
	}
	a := o.call(o.client, 200, "GET", "/v1/audit?action=token.created", all["accessToken"].(string), "")
	require.Contains(t, a.body, `"type":"operator"`)
	require.NotContains(t, a.body, token)
	o.object("token", "create", "--company", o.company, "--user", owner, "--ttl", "8760h")
	o.object("token", "create", "--company", o.company, "--user", owner, "--ttl", "1s")
	for _, ttl := range []string{"8760h1s", "0s", "-1h", "999ms"} {
		o.refused([]string{"ttl"}, "token", "create", "--company", o.company, "--user", owner, "--ttl="+ttl)
	}
	o.refused([]string{"--ttl"}, "token", "create", "--company", o.company, "--user", owner, "--ttl", "soon")
	o.refused([]string{"--scopes", `"services:fly"`}, "token", "create", "--company", o.company, "--user", owner, "--scopes", "services:fly")
	o.refused([]string{"user"}, "token", "create", "--company", o.company, "--user", "nobody@demo.example")
	test := o.object("token", "create", "--company", o.company, "--user", owner, "--test")["accessToken"].(string)
	sandbox := o.call(o.client, 200, "GET", "/v1/services", test, "")
	require.NotEqual(t, o.call(o.client, 200, "GET", "/v1/services", all["accessToken"].(string), "").body, sandbox.body)
	again := o.object("token", "create", "--company", o.company, "--user", owner, "--test")["accessToken"].(string)
	require.Equal(t, sandbox.body, o.call(o.client, 200, "GET", "/v1/services", again, "").body)
	o.object("user", "invite", "--company", o.company, "--email", "invited@demo.example", "--role", "agent")
	invited := o.object("token", "create", "--company", o.company, "--user", "invited@demo.example")
	o.call(o.client, 200, "GET", "/v1/requests", invited["accessToken"].(string), "")
}

func userInvite(t *testing.T, o *office) {
	made := o.object("user", "invite", "--company", o.company, "--email", "Lee@demo.example", "--role", "admin", "--name", "Lee, Admin")
	requireShape(t, map[string]any{"user": map[string]any{"id": "", "email": "", "name": "", "role": "", "status": ""}}, made)
	u := made["user"].(map[string]any)
	require.Equal(t, []any{"lee@demo.example", "Lee, Admin", "admin", "invited"}, []any{u["email"], u["name"], u["role"], u["status"]})
	a := o.call(o.client, 200, "GET", "/v1/users/"+u["id"].(string), o.first.LiveKey, "")
	require.Contains(t, a.body, "lee@demo.example")
	o.refused([]string{"member already"}, "user", "invite", "--company", o.company, "--email", "lee@demo.example", "--role", "member")
	o.refused([]string{"email"}, "user", "invite", "--company", o.company, "--email", "lee", "--role", "member")
	o.refused([]string{"--role"}, "user", "invite", "--company", o.company, "--email", "x@demo.example", "--role", "king")
	// The server's ATRIUM_ROLE in the environment does not affect a command whose own --role is given.
	o.object("ATRIUM_ROLE=worker", "user", "invite", "--company", o.company, "--email", "y@demo.example", "--role", "member")
}

func clientCreate(t *testing.T, o *office) {
	made := o.object("client", "create", "--company", o.company, "--name", "App", "--redirect-uri", "https://app.example/cb?a=1,2", "--redirect-uri", "http://127.0.0.1/cb", "--scopes", "services:read,openid")
	requireShape(t, map[string]any{"oauthClient": map[string]any{"clientId": "", "redirectUris": []any{}, "scopes": []any{}}, "clientSecret": nil}, made)
	require.Nil(t, made["clientSecret"])
	c := made["oauthClient"].(map[string]any)
	require.Equal(t, []any{"https://app.example/cb?a=1,2", "http://127.0.0.1/cb"}, c["redirectUris"])
	require.Equal(t, []any{"services:read", "openid"}, c["scopes"])
	all := o.object("client", "create", "--company", o.company, "--name", "Back end", "--redirect-uri", "https://app.example/cb", "--confidential")
	require.NotEmpty(t, all["clientSecret"])
	require.Len(t, all["oauthClient"].(map[string]any)["scopes"], 16)
	require.Empty(t, column(t, o.place, fmt.Sprintf("SELECT id FROM audit_entries WHERE CAST(changes AS TEXT) LIKE '%%%s%%'", all["clientSecret"])))
	o.refused([]string{"redirectUris[0]"}, "client", "create", "--company", o.company, "--name", "App", "--redirect-uri", "http://app.example/cb")
	o.refused([]string{"scopes[0]"}, "client", "create", "--company", o.company, "--name", "App", "--redirect-uri", "https://app.example/cb", "--scopes", "services:fly")
}

func creditIssue(t *testing.T, o *office) {
	made := o.object("credit", "issue", "--company", o.company, "--amount", "01250", "--reason", "promotion", "--description", "Welcome, and thanks")
	requireShape(t, map[string]any{"creditEntry": map[string]any{"id": "", "type": "", "amount": 0.0, "description": "", "date": ""}}, made)
	a := o.call(o.client, 200, "GET", "/v1/billing/credits", o.first.LiveKey, "")
	credits := decode(t, a.body)
	require.Equal(t, 1250.0, credits["balance"])
	entry := credits["entries"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"issued", 1250.0, "Welcome, and thanks"}, []any{entry["type"], entry["amount"], entry["description"]})
	for _, amount := range []string{"0", "-5"} {
		o.refused([]string{"amount"}, "credit", "issue", "--company", o.company, "--amount="+amount, "--reason", "promotion", "--description", "x")
	}
	o.refused([]string{"--amount"}, "credit", "issue", "--company", o.company, "--amount", "12.50", "--reason", "promotion", "--description", "x")
	for _, reason := range []string{"gift", "downgrade", "invoice"} { // downgrade and invoice are reserved for the product
		o.refused([]string{"--reason"}, "credit", "issue", "--company", o.company, "--amount", "5", "--reason", reason, "--description", "x")
	}
	o.refused([]string{"description"}, "credit", "issue", "--company", o.company, "--amount", "5", "--reason", "promotion", "--description", "")
}

func companyCreate(t *testing.T, o *office) {
	made := o.object("company", "create", "--name", "Möbel & Söhne", "--plan", "starter", "--owner-email", "Anna@example.org")
	requireFirstRun(t, made)
	require.Equal(t, o.base, made["baseUrl"])
	require.Equal(t, o.first.CAFile, made["caFile"])
	require.Equal(t, "anna@example.org", made["owner"].(map[string]any)["email"])
	live, test := made["liveKey"].(string), made["testKey"].(string)
	a := o.call(o.client, 201, "POST", "/v1/services", test, `{"name":"In the sandbox"}`)
	o.call(o.client, 404, "GET", "/v1/services/"+decode(t, a.body)["data"].(map[string]any)["id"].(string), live, "")
	require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, a.header.Get("RateLimit-Policy"))
	a = o.call(o.client, 200, "GET", "/v1/services", live, "")
	require.Equal(t, `"minute";q=120;w=60, "day";q=50000;w=86400`, a.header.Get("RateLimit-Policy"))
	require.NotContains(t, a.body, o.first.Demo.ServiceID)
	o.call(o.client, 404, "GET", "/v1/services/"+o.first.Demo.ServiceID, live, "")
	scopes := column(t, o.place, "SELECT CAST(scopes AS TEXT) FROM api_keys WHERE company_id = '"+made["company"].(map[string]any)["id"].(string)+"'")
	require.Len(t, scopes, 2)
	for _, s := range scopes {
		require.Equal(t, 15, strings.Count(s, ","), s)
	}
	// A person who already has a password keeps it when a second company is created for the same address.
	second := o.object("company", "create", "--name", "Second", "--plan", "free", "--owner-email", "anna@example.org")
	require.Empty(t, second["owner"].(map[string]any)["password"])
	o.refused([]string{"--plan"}, "company", "create", "--name", "X", "--plan", "gold", "--owner-email", "a@example.org")
	o.refused([]string{"ownerEmail"}, "company", "create", "--name", "X", "--plan", "free", "--owner-email", "nobody")
	o.refused([]string{"name"}, "company", "create", "--name", "", "--plan", "free", "--owner-email", "a@example.org")
}

func companyLimits(t *testing.T, o *office) {
	made := o.object("company", "create", "--name", "Limited", "--plan", "enterprise", "--owner-email", "limited@example.org")
	id, key := made["company"].(map[string]any)["id"].(string), made["liveKey"].(string)
	policy := func() string {
		return o.call(o.client, 200, "GET", "/v1/services", key, "").header.Get("RateLimit-Policy")
	}
	require.Equal(t, `"minute";q=1200;w=60, "day";q=2000000;w=86400`, policy())
	limits := func(want string, perMinute, perDay, queryCost any, args ...string) {
		t.Helper()
		got := o.object(append([]string{"company", "limits", "--company", id}, args...)...)
		require.Equal(t, map[string]any{"company": map[string]any{"id": id, "perMinute": perMinute, "perDay": perDay, "megabytesPerMinute": nil, "megabytesPerDay": nil, "queryCost": queryCost, "invitations": nil}}, got)
		require.Equal(t, want, policy(), "after %v", args)
	}
	limits(`"minute";q=5000;w=60, "day";q=2000000;w=86400`, 5000.0, nil, nil, "--per-minute", "5000")
	limits(`"minute";q=5000;w=60, "day";q=777;w=86400`, 5000.0, 777.0, nil, "--per-day", "777")
	limits(`"minute";q=1200;w=60, "day";q=777;w=86400`, nil, 777.0, nil, "--per-minute", "0")
	o.refused([]string{"perMinute"}, "company", "limits", "--company", id, "--per-minute=-1")

	// Bytes are those of the whole company.
	got := o.object("company", "limits", "--company", id, "--megabytes-per-minute", "1", "--megabytes-per-day", "7")["company"].(map[string]any)
	require.Equal(t, []any{1.0, 7.0}, []any{got["megabytesPerMinute"], got["megabytesPerDay"]})
	large := `{"name": "` + strings.Repeat("x", 700_000) + `"}`
	o.call(o.client, 400, "POST", "/v1/services", key, large) // the name is too long
	refused := o.call(o.client, 429, "POST", "/v1/services", key, large)
	require.Equal(t, `"minute-bytes";q=1048576;w=60;qu="content-bytes", "day-bytes";q=7340032;w=86400;qu="content-bytes"`, refused.header.Get("RateLimit-Policy"))
	o.ok("company", "limits", "--company", id, "--megabytes-per-minute", "0", "--megabytes-per-day", "0")
	o.refused([]string{"megabytesPerDay"}, "company", "limits", "--company", id, "--megabytes-per-day=-1")

	// The limit of an operation's cost can be raised in the same way, but not lowered.
	o.ok("company", "limits", "--company", id, "--per-day", "0")
	costly := func(status int, says string) { // costs 30,301: 100 services with 100 offerings each
		t.Helper()
		a := o.call(o.client, status, "POST", "/graphql", key, `{"query": "{ services(first: 100) { edges { node { offerings(first: 100) { edges { node { id } } } } } } }"}`)
		require.Contains(t, a.body, says)
	}
	costly(400, "limit is 20000.")
	same := `"minute";q=1200;w=60, "day";q=2000000;w=86400`
	limits(same, nil, nil, 50_000.0, "--query-cost", "50000")
	costly(200, `"services"`)
	limits(same, nil, nil, nil, "--query-cost", "0")
	costly(400, "limit is 20000.")
	for _, out := range []string{"19999", "200001", "-1"} {
		o.refused([]string{"queryCost"}, "company", "limits", "--company", id, "--query-cost="+out)
	}
}

// refusals checks companies that commands do not accept.
func refusals(t *testing.T, o *office) {
	before := countRows(t, o.place, "api_keys WHERE company_id = '"+o.first.Company.SandboxID+"'")
	for _, company := range []string{o.first.Company.SandboxID, "co_01k00000000000000000000000", "nonsense", "", "*"} {
		for _, args := range [][]string{
			{"key", "create", "--name", "x", "--scopes", "services:read"},
			{"key", "rotate", "--id", "key_01k00000000000000000000000"},
			{"user", "invite", "--email", "z@demo.example", "--role", "owner"},
			{"token", "create", "--user", "owner@demo.example"},
			{"credit", "issue", "--amount", "5", "--reason", "promotion", "--description", "x"},
			{"company", "limits", "--per-minute", "5"},
		} {
			o.refused([]string{"no live company"}, append(args, "--company="+company)...)
		}
	}
	require.Equal(t, before, countRows(t, o.place, "api_keys WHERE company_id = '"+o.first.Company.SandboxID+"'"))
}

// human checks the output without --json.
func human(t *testing.T, o *office) {
	for want, args := range map[string][]string{
		"shown this once":  {"key", "create", "--company", o.company, "--name", "h", "--scopes", "services:read"},
		"client  cli_":     {"client", "create", "--company", o.company, "--name", "h", "--redirect-uri", "https://app.example/cb"},
		"user  usr_":       {"user", "invite", "--company", o.company, "--email", "human@demo.example", "--role", "member"},
		"eyJ":              {"token", "create", "--company", o.company, "--user", o.first.Owner.Email},
		"password  ":       {"company", "create", "--name", "h", "--plan", "free", "--owner-email", "human@example.org"},
		"as the plan says": {"company", "limits", "--company", o.company},
		"at this version":  {"migrate"},
		"ok   data folder": {"doctor"},
		"atrium ":          {"version"},
	} {
		out := o.ok(args...)
		require.Contains(t, out, want)
		require.False(t, strings.HasPrefix(out, "{"), out)
		require.Equal(t, 1, strings.Count(out[len(out)-1:], "\n"), "no newline at the end of %v", args)
	}
	secretless := o.ok("client", "create", "--company", o.company, "--name", "h2", "--redirect-uri", "https://app.example/cb")
	require.NotContains(t, secretless, "secret")
	names := column(t, o.place, "SELECT DISTINCT actor_name FROM audit_entries WHERE actor_type = 'operator'")
	sort.Strings(names)
	require.Contains(t, names, "key create")
}
