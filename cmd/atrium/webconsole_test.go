package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// serveConsole starts a server for a script of the console's tests, and returns what the script needs to know of it. The limit of calls
// is raised, because a script reads pages faster than a person does. Each script runs on one database: pages know nothing of it, and the
// operations behind them are tried on both by the tests of GraphQL.
func (p place) serveConsole() (n *node, first firstRun, in map[string]any) {
	p.t.Helper()
	n, first = p.serve(), p.firstRun()
	p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000")
	return n, first, map[string]any{
		"api": n.base, "liveKey": first.LiveKey,
		"owner": map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
		"demo":  map[string]string{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID},
	}
}

// People use the web console with Chromium. An owner files, accepts, undoes, comments and declines,
// creates a key and publishes a workflow. An invited member sees only what members may do, and is sent away once they are
// deactivated. An owner of another company finds nothing.
func TestWebConsole(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	n, first, in := p.serveConsole()
	require.Equal(t, "console "+n.base+"/app", n.await("console "))
	p.object("user", "invite", "--company", first.Company.ID, "--email", "mia@demo.example", "--role", "member", "--name", "Mia")
	link := p.mailedLink("mia@demo.example", "/invitation")
	p.object("user", "invite", "--company", first.Company.ID, "--email", "sam@demo.example", "--role", "agent", "--name", "Sam")
	in["staff"] = map[string]string{"email": "sam@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("sam@demo.example", "/invitation")}
	in["member"] = map[string]string{"email": "mia@demo.example", "password": "correct horse battery 42", "link": link}
	other := p.object("company", "create", "--name", "Other", "--plan", "free", "--owner-email", "owner@other.example")
	in["other"] = other["owner"]
	p.object("company", "limits", "--company", other["company"].(map[string]any)["id"].(string), "--per-minute", "6000")
	require.Contains(t, n.script("console.mjs", in), "console: ok")
}

// An owner looks at every page, after figures and titles of all kinds have come in. No page violates its own policy, logs a console
// error, is wider than the window, or has a finding of axe, in light and dark mode, at 320 pixels and at twice the size. The
// tour of all pages is made on SQLite alone; their figures are read on both databases, because each has statements of its own for them.
func TestWebConsolePages(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n, _, in := p.prepared().serveConsole()
		in["looks"] = p.url == ""
		require.Contains(t, n.script("console-pages.mjs", in), "console-pages: ok")
	})
}

// In a company with rows everywhere no page moves while it comes in, on a wide screen and on a narrow one, for an owner and a member.
// The inbox asks once before its rows, what was said ends with its page, and a second sign-in leads back into the dialog that asked for it.
func TestWebConsoleHoldsStill(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n, first, in := p.serveConsole()
	in["token"] = p.token(first.Company.ID, first.Owner.Email)
	p.object("user", "invite", "--company", first.Company.ID, "--email", "mia@demo.example", "--role", "member", "--name", "Mia")
	in["member"] = map[string]string{"email": "mia@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("mia@demo.example", "/invitation")}
	out := n.script("console-layout.mjs", in)
	require.Contains(t, out, "console-layout: ok")
	t.Log(out)
	require.Contains(t, n.script("console-comes.mjs", in), "console-comes: ok")
}

// An owner builds what a company works with in the console's forms: agents of their own and for phases, forms that ask by condition,
// and names and attributes. Numbers beside what is changed keep their digits.
func TestWebConsoleForms(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-forms.mjs", in), "console-forms: ok")
	require.Contains(t, n.script("console-numbers.mjs", in), "console-numbers: ok")
}

// Staff select, filter, change, refuse and move requests in the lists and on the board, many at once, and take that back.
func TestWebConsoleLists(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-lists.mjs", in), "console-lists: ok")
}

// An owner works with the keyboard alone: files, accepts, assigns and completes requests, creates a key, publishes a workflow, explains
// a refusal, finds who did what, builds a form and invites somebody. Each control is reached by Tab and shows that it has the focus.
func TestWebConsoleByKeyboard(t *testing.T) {
	t.Parallel()
	n, _, in := onPostgres(t).prepared().serveConsole()
	require.Contains(t, n.script("console-keyboard.mjs", in), "console-keyboard: ok")
}

// An owner builds a workflow of six phases with the keyboard alone, publishes it, and the API has it. What is wrong in an expression is said
// while it is written, and the keyboard completes one.
func TestWebConsoleBuildsWorkflows(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	out := n.script("console-builder.mjs", in)
	require.Contains(t, out, "console-builder: ok")
	t.Log(out)
}

// An owner says who takes part in a workflow by rules, and is told what an offering, a routing rule and a schedule need around it.
func TestWebConsoleAsksByRule(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).serveConsole()
	require.Contains(t, n.script("console-rules.mjs", in), "console-rules: ok")
}

// An owner builds a workflow with parallel branches with the keyboard alone, and a request stands in both of them at once.
func TestWebConsoleBuildsBlocks(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-blocks.mjs", in), "console-blocks: ok")
}

// An owner builds a workflow that calls another one with the keyboard alone, and a request runs through both.
func TestWebConsoleCallsWorkflows(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-calls.mjs", in), "console-calls: ok")
}

// An owner builds the process of a purchase by the console's forms alone, with at most 120 actions, tries and publishes it, and reads what
// its second version changes.
func TestWebConsoleBuildsThePurchase(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-purchase.mjs", in), "console-purchase: ok")
}

// An owner installs a starter pack with the keyboard alone and files a request for one of its offerings. A pack that is installed again
// makes nothing, and a broken file is refused with its document named.
func TestWebConsolePacks(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n, _, in := p.serveConsole()
	other := p.object("company", "create", "--name", "Other", "--plan", "free", "--owner-email", "owner@other.example")
	in["other"] = other["owner"]
	p.object("company", "limits", "--company", other["company"].(map[string]any)["id"].(string), "--per-minute", "6000")
	require.Contains(t, n.script("console-packs.mjs", in), "console-packs: ok")
}

// An owner brings 1,000 requests of another system in with the keyboard alone, and leaves three rows out that have faults.
func TestWebConsoleImports(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-import.mjs", in), "console-import: ok")
}

// The lead of a team reads last month's report beside the month before, filters it by the team and reaches the list behind a figure, on a
// telephone in German as well.
func TestWebConsoleReports(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-reports.mjs", in), "console-reports: ok")
}

// An owner plans with the keyboard alone that a request is submitted every week, runs it once and pauses it.
func TestWebConsoleSchedules(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n, first, in := p.serveConsole()
	in["token"] = p.token(first.Company.ID, first.Owner.Email)
	require.Contains(t, n.script("console-schedules.mjs", in), "console-schedules: ok")
}

// An owner makes an inbound webhook for a sender that they choose, sees what its calls become, and maps the last one. Files that mean harm
// do none to whoever opens them.
func TestWebConsoleInbound(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n, _, in := p.serveConsole()
	require.Contains(t, n.script("console-inbound.mjs", in), "console-inbound: ok")
	in["otherKey"] = p.object("company", "create", "--name", "Other", "--plan", "free", "--owner-email", "owner@other.example")["liveKey"]
	require.Contains(t, n.script("console-files.mjs", in), "console-files: ok")
}

// An owner tries a workflow with the keyboard alone before it is published: answers lead it on, and nothing comes of it.
func TestWebConsoleTriesWorkflows(t *testing.T) {
	t.Parallel()
	n, _, in := onSQLite(t).prepared().serveConsole()
	require.Contains(t, n.script("console-try.mjs", in), "console-try: ok")
}

// An admin presses what the console's pages offer, and the server refuses none of it. In the sandbox they offer nothing of people,
// keys, the plan and the settings, which are the live company's.
func TestWebConsoleOffersWhatIsAllowed(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n, first, in := p.serveConsole()
	p.object("user", "invite", "--company", first.Company.ID, "--email", "ada@demo.example", "--role", "admin", "--name", "Ada")
	in["paths"] = []string{
		"inbox", "requests", "people", "keys", "policies", "tasks", "services", "workflows", "agents", "service-accounts", "oauth-clients", "webhooks", "secrets", "credits",
		"mail", "mailboxes", "plan", "audit", "settings", "calendars", "routing", "schedules", "organizations", "services/" + first.Demo.ServiceID,
	}
	in["admin"] = map[string]string{"email": "ada@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("ada@demo.example", "/invitation")}
	require.Contains(t, n.script("console-offers.mjs", in), "console-offers: ok")
}

// The server dies while three tabs are open and comes back at the same address. Each tab shows that the connection is lost and is
// being retried, and continues without a reload. The list is live again, and a half-written text is still there and can be sent.
func TestWebConsoleOutlivesTheServer(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		file := func(title string) string {
			t.Helper()
			a := n.call(p.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop(title))
			made, ok := decode(t, a.body)["data"].(map[string]any)
			require.True(t, ok)
			return made["id"].(string)
		}
		browser := p.talk("console-killed.mjs", map[string]any{
			"api": n.base, "request": file("Filed before"), "owner": map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
			"demo": map[string]string{"offeringId": first.Demo.OfferingID},
		})
		browser.await("open")
		n.kill()
		browser.await("lost")
		n = p.serve("--listen", strings.TrimPrefix(n.base, "https://"))
		file("Filed meanwhile")
		browser.await("back")
		file("Filed live")
		require.Contains(t, browser.end(), "console-killed: ok")
	})
}
