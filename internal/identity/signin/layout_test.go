package signin_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/testkit"
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
			l.Render(w, r, http.StatusOK, pages.Page{Body: "forgot", Title: "Forgot?", Data: "<b>", Faults: map[string]string{"email": "is missing"}})
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
	l.Frame(w, httptest.NewRequest(http.MethodGet, origin+"/oauth2/end-session", nil), provider.Page{Status: 400, Title: "T", Body: "<p>B</p>", FormTo: "https://app.test"})
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "<p>B</p>")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "form-action 'self' https://app.test;")

	for _, bad := range []string{"", "/x", "https://x.test/auth", "https://x.test?a=b"} {
		_, err := pages.NewLayout(pages.LayoutOptions{AuthURL: bad})
		require.Error(t, err, bad)
	}
	_, err = pages.NewLayout(pages.LayoutOptions{AuthURL: origin, Pages: fstest.MapFS{"x.html": {Data: []byte("{{")}}})
	require.Error(t, err)
	_, err = signin.New(signin.Options{AuthURL: origin})
	require.Error(t, err)
}

// A policy names the origins that a form may lead to, and nothing that it cannot name.
func TestLeadsTo(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"https://app.test", "http://127.0.0.1:5173", "http:"},
		pages.LeadsTo("https://app.test/cb?x=1", "http://127.0.0.1:5173/", "https://app.test", "http://[::1]:99/", "javascript:alert(1)", "", "app://x", "https://x.test; script-src *"))
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
