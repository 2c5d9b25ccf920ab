package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// People work in the web console with Chromium: an owner files, accepts, undoes, comments, declines by keys alone, makes a key
// and publishes a workflow; a member who was invited sees what members may do. No page breaks its own policy, has an error in
// the console, is wider than the window, or has a finding of axe, in light, in dark and 320 pixels wide.
func TestWebConsole(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		require.Equal(t, "console "+n.base+"/app", n.await("console "))
		p.object("company", "limits", "--company", first.Company.ID, "--per-minute", "6000") // a person does not read twenty pages a minute
		p.object("user", "invite", "--company", first.Company.ID, "--email", "mia@demo.example", "--role", "member", "--name", "Mia")
		link := p.mailedLink("mia@demo.example", "/invitation")
		p.object("user", "invite", "--company", first.Company.ID, "--email", "sam@demo.example", "--role", "agent", "--name", "Sam")
		require.Contains(t, n.script("console.mjs", map[string]any{
			"api": n.base, "liveKey": first.LiveKey, "tour": p.url == "",
			"owner":  map[string]string{"email": first.Owner.Email, "password": first.Owner.Password},
			"demo":   map[string]string{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID},
			"staff":  map[string]string{"email": "sam@demo.example", "password": "correct horse battery 42", "link": p.mailedLink("sam@demo.example", "/invitation")},
			"member": map[string]string{"email": "mia@demo.example", "password": "correct horse battery 42", "link": link},
		}), "console: ok")
	})
}
