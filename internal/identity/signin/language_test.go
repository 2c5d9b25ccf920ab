package signin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A whole sign-in in German, because the client asks for it (ui_locales): password, second step, consent. Every form leads to a page in
// the same language.
func TestSignInGerman(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		p := b.get(s.authorize("ui_locales", "fr de-AT en"))
		german := func(p *page, title string) *page {
			t.Helper()
			require.Equal(t, title, p.title())
			require.Equal(t, "de", p.Find("html").AttrOr("lang", ""))
			return p
		}
		german(p, "Anmelden")
		require.Contains(t, p.Find(".intro").Text(), "um zu Report Builder zu gelangen")
		require.Equal(t, "Passwort vergessen?", p.Find("a[href='/forgot']").Text())
		wrong := german(p.submit("email", s.agent().Email, "password", "wrong"), "Anmelden")
		require.Equal(t, "Die E-Mail-Adresse oder das Passwort stimmt nicht.", wrong.alert())
		require.Contains(t, wrong.Find("title").Text(), "Fehler: Anmelden")
		p = german(p.signInAs(s.agent()), "Bestätigen Sie, dass Sie es sind")
		require.Contains(t, german(p.submit("code", "000000"), "Bestätigen Sie, dass Sie es sind").alert(), "Dieser Code stimmt nicht")
		p = german(p.submit("code", a.now()), "Report Builder Zugriff erlauben?")
		require.Contains(t, p.Find("main").Text(), "Report Builder möchte:")
		require.Contains(t, texts(p, ".allows li"), "Anfragen und Aufgaben sehen und ändern")
		require.Equal(t, []string{"Erlauben", "Ablehnen"}, texts(p, ".pair button"))
		require.NotEmpty(t, p.submit("consent", "allow").left().Get("code"))

		require.Equal(t, "Sign in", s.browser().get(s.authorize("ui_locales", "fr ja")).title(), "a language that does not ship")
		require.Equal(t, "Sign in", s.browser().get(s.authorize()).title())
	})
}

// The pages of a person who has chosen a language are in it from the moment in which the password tells who they are.
func TestSignInInOnesOwnLanguage(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		testkit.Run(t, s.World, s.As(s.A, principal.Agent), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de"), TimeZone: op.SetTo("Europe/Berlin")})
		b := s.browser()
		p := b.get(s.authorize())
		require.Equal(t, "Sign in", p.title())
		p = p.signInAs(s.agent())
		require.Equal(t, "Report Builder Zugriff erlauben?", p.title())
		p = b.get("/account/mfa")
		require.Equal(t, "Zweiten Faktor hinzufügen", p.title())
		require.Equal(t, "Dieser Code stimmt nicht. Geben Sie den Code ein, den die App jetzt anzeigt.", p.submit("code", "000000").alert())
	})
}
