package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// People use the web console with Chromium. An owner files, accepts, undoes, comments and declines with the keyboard alone,
// creates a key and publishes a workflow. An invited member sees only what members may do.
func TestWebConsole(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		require.Equal(t, "console "+n.base+"/app", n.await("console "))
		p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000") // the test reads pages faster than a person does
		p.object("user", "invite", "--company", first.Company.ID, "--email", "mia@demo.example", "--role", "member", "--name", "Mia")
		link := p.mailedLink("mia@demo.example", "/invitation")
		p.object("user", "invite", "--company", first.Company.ID, "--email", "sam@demo.example", "--role", "agent", "--name", "Sam")
		require.Contains(t, n.script("console.mjs", map[string]any{
			"api": n.base, "liveKey": first.LiveKey,
			"owner":  map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
			"demo":   map[string]string{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID},
			"staff":  map[string]string{"email": "sam@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("sam@demo.example", "/invitation")},
			"member": map[string]string{"email": "mia@demo.example", "password": "correct horse battery 42", "link": link},
		}), "console: ok")
	})
}

// An owner looks at every page, after figures and titles of all kinds have come in. No page violates its own policy, logs a console
// error, is wider than the window, or has a finding of axe, in light and dark mode, at 320 pixels and at twice the size.
func TestWebConsolePages(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000")
		require.Contains(t, n.script("console-pages.mjs", map[string]any{
			"api": n.base, "liveKey": first.LiveKey, "tour": p.url == "", // the pages' looks know nothing of the database
			"owner": map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
			"demo":  map[string]string{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID},
		}), "console-pages: ok")
	})
}

// An owner builds what a company works with in the console's forms: agents of their own and for phases, forms that ask by condition,
// and names and attributes.
func TestWebConsoleForms(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000")
		require.Contains(t, n.script("console-forms.mjs", map[string]any{
			"api": n.base, "liveKey": first.LiveKey,
			"owner": map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
			"demo":  map[string]string{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID},
		}), "console-forms: ok")
	})
}

// An admin presses what the console's pages offer, and the server refuses none of it. In the sandbox they offer nothing of people,
// keys, the plan and the settings, which are the live company's.
func TestWebConsoleOffersWhatIsAllowed(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000")
		p.object("user", "invite", "--company", first.Company.ID, "--email", "ada@demo.example", "--role", "admin", "--name", "Ada")
		paths := []string{"inbox", "requests", "people", "keys", "policies"}
		if p.url == "" { // all pages, on one database: their buttons know nothing of it
			paths = append(paths, "tasks", "services", "workflows", "agents", "service-accounts", "oauth-clients", "webhooks", "secrets", "credits", "plan", "audit", "settings",
				"calendars", "routing", "organizations", "services/"+first.Demo.ServiceID)
		}
		require.Contains(t, n.script("console-offers.mjs", map[string]any{
			"api": n.base, "paths": paths,
			"admin": map[string]string{"email": "ada@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("ada@demo.example", "/invitation")},
		}), "console-offers: ok")
	})
}

// The server dies while three tabs are open and comes back at the same address. Each tab shows that the connection is lost and is
// being retried, and continues without a reload. The list is live again, and a half-written text is still there and can be sent.
func TestWebConsoleOutlivesTheServer(t *testing.T) {
	each(t, func(t *testing.T, p place) {
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
