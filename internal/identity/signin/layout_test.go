package signin_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Other packages' pages wear the same dress: their forms get the token, and are held against it.
func TestLayout(t *testing.T) {
	t.Parallel()
	l, err := pages.NewLayout(pages.LayoutOptions{AuthURL: origin, Log: slog.New(slog.DiscardHandler), Pages: fstest.MapFS{
		"forgot.html": {Data: []byte(`<form method="post">{{template "csrf" .}}{{template "input" (input . "email" "E-mail" "email" "username" "optional" true)}}<button type="submit">Go</button></form><p>{{.Data}}</p>`)},
		"broken.html": {Data: []byte(`{{.Data.Nothing}}`)},
	}})
	require.NoError(t, err)
	var posted string
	h := l.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken", "/nothing":
			l.Render(w, r, http.StatusOK, pages.Page{Body: r.URL.Path[1:], Data: 1})
		default:
			posted = r.PostFormValue("email")
			l.Render(w, r, http.StatusOK, pages.Page{Body: "forgot", Title: locale.Raw("Forgot?"), Data: "<b>", Faults: map[string]locale.Text{"email": locale.Raw("is missing")}})
		}
	}))
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, origin+path, nil))
		return w
	}
	w := get("/forgot")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "<title>Error: Forgot? – Atrium</title>")
	require.Contains(t, w.Body.String(), `aria-describedby="email-fault"`)
	require.Contains(t, w.Body.String(), "&lt;b&gt;")
	require.NotContains(t, w.Body.String(), "required")
	require.Contains(t, w.Body.String(), `name="csrf" value="`)
	require.Len(t, w.Result().Cookies(), 1)
	require.Equal(t, http.StatusInternalServerError, get("/broken").Code)
	require.Equal(t, http.StatusInternalServerError, get("/nothing").Code)

	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, origin+"/forgot", nil))
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Empty(t, posted)

	w = httptest.NewRecorder()
	l.Frame(w, httptest.NewRequest(http.MethodGet, origin+"/oauth2/end-session", nil), provider.Page{Status: 400, Title: locale.Raw("T"), Text: locale.Raw("B"), FormTo: "https://app.test"})
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "<p>B</p>")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "form-action 'self' https://app.test;")
	w = httptest.NewRecorder()
	l.Frame(w, httptest.NewRequest(http.MethodGet, origin+"/oauth2/end-session", nil), provider.Page{Status: 200, Title: locale.Raw("Sign out?"), FormTo: identity.FormAction("com.example.app:/bye")})
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "form-action 'self' com.example.app:;")

	for _, bad := range []string{"", "/x", "https://x.test/auth", "https://x.test?a=b"} {
		_, err := pages.NewLayout(pages.LayoutOptions{AuthURL: bad})
		require.Error(t, err, bad)
	}
	_, err = pages.NewLayout(pages.LayoutOptions{AuthURL: origin, Pages: fstest.MapFS{"x.html": {Data: []byte("{{")}}})
	require.Error(t, err)
	_, err = signin.New(signin.Options{AuthURL: origin})
	require.Error(t, err)
}

// A policy names what a form may lead to, and nothing that it cannot name.
func TestLeadsTo(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"https://app.test", "http://127.0.0.1:5173", "http:", "com.example.app:"},
		pages.LeadsTo("https://app.test/cb?x=1", "http://127.0.0.1:5173/", "https://app.test", "http://[::1]:99/", "com.example.app:/cb", "javascript:alert(1)", "", "app://x", "https://x.test; script-src *"))
}

// A native application registers a private-use scheme. Every page on the way names the scheme in its policy, because browsers
// block a redirect from a form that the page's policy does not name; the consent page shows it in place of a host.
func TestNativeApplication(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const back = "com.example.app:/cb"
		native := testkit.Run(t, s.World, s.As(s.A, principal.Owner), identity.CreateClient,
			identity.CreateClientInput{Name: "Pocket", RedirectURIs: []string{back}}).Client
		named := func(p *page, title string) *page {
			t.Helper()
			require.Equal(t, title, p.title())
			require.Contains(t, p.Header.Get("Content-Security-Policy"), "form-action 'self' com.example.app: https://example.com;")
			return p
		}
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		p := named(b.get(s.authorize("client_id", native.ID, "redirect_uri", back)), "Sign in")
		p = named(p.signInAs(s.agent()), "Confirm that it is you")
		p = named(p.submit("code", a.now()), "Allow Pocket?")
		require.Contains(t, p.Find("main").Text(), "You continue to com.example.app.")
		p = p.submit("consent", "allow")
		require.NotEmpty(t, p.left().Get("code"))
		require.True(t, strings.HasPrefix(p.Header.Get("Location"), back+"?"), p.Header.Get("Location"))
	})
}

// The id token that a client shows names who may answer: nobody else is let in, nor asked which company.
func TestIDTokenHint(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := serve(t, w, nil)
		there := s.join("active")
		b := s.browser()
		hint := b.get(s.web()).signInAs(s.agent()).submit("user", there.ID).idToken()
		require.Equal(t, there.ID, b.get(s.web("id_token_hint", hint)).claims().Subject, "without a choice")

		other := s.browser()
		require.NotEmpty(t, other.get(s.web()).signInAs(s.A.Users["member"]).left().Get("code"))
		p := other.get(s.web("id_token_hint", hint))
		require.Equal(t, "Sign in", p.title())
		require.Equal(t, "login_required", other.get(s.web("id_token_hint", hint, "prompt", "none")).left().Get("error"))
		require.Equal(t, there.ID, p.signInAs(s.agent()).claims().Subject)
	})
}
