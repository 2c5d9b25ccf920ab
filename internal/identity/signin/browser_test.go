package signin_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"atrium/ent"
	"atrium/internal/identity"
	"atrium/internal/platform/locale"
)

// browser keeps cookies, follows redirects within the site and stops where it leaves it.
type browser struct {
	s *site
	http.Client
}

func (s *site) browser() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &browser{s, http.Client{
		Jar: jar, Transport: s.srv.Client().Transport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !strings.HasPrefix(r.URL.String(), origin+"/") || r.URL.Path == "/login/callback" || len(via) > 10 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// cookie returns the value of one of the browser's cookies.
func (b *browser) cookie(name string) string {
	for _, c := range b.Jar.Cookies(&url.URL{Scheme: "https", Host: "example.com", Path: "/"}) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// keep sets one of the browser's cookies.
func (b *browser) keep(name, value string) {
	b.Jar.SetCookies(&url.URL{Scheme: "https", Host: "example.com", Path: "/"}, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
}

// page is an answer with its document.
type page struct {
	*http.Response
	*goquery.Document
	b    *browser
	html string
}

func (b *browser) do(r *http.Request) *page {
	b.s.t.Helper()
	res, err := b.Do(r)
	require.NoError(b.s.t, err)
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.s.t, err)
	require.NoError(b.s.t, res.Body.Close())
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(raw)))
	require.NoError(b.s.t, err)
	p := &page{res, doc, b, string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && strings.Contains(p.html, "/signin/static/") {
		p.wellMade()
	}
	return p
}

// wellMade holds what every page of ours has to be: safe from frames, caches and foreign code, and usable without a
// mouse, a screen or JavaScript.
func (p *page) wellMade() {
	t, h := p.b.s.t, p.Header
	t.Helper()
	require.Equal(t, "DENY", h.Get("X-Frame-Options"))
	require.Equal(t, "no-store", h.Get("Cache-Control"))
	require.Equal(t, "same-origin", h.Get("Referrer-Policy"))
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
	csp := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'self';", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		require.Contains(t, csp, want)
	}
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, p.Find("[data-passkey]").Length() > 0, strings.Contains(csp, "script-src 'self'"), "a script only where passkeys need one")
	require.Zero(t, p.Find("[style], style, script:not([src]), [onclick], [onsubmit], [onload]").Length(), "nothing inline")

	require.Contains(t, locale.Languages, p.Find("html").AttrOr("lang", ""))
	require.NotEmpty(t, strings.TrimSpace(p.Find("title").Text()))
	require.Equal(t, 1, p.Find("h1").Length())
	require.Equal(t, 1, p.Find("main").Length())
	p.Find("input:not([type=hidden])").Each(func(_ int, in *goquery.Selection) {
		id, _ := in.Attr("id")
		require.Equal(t, 1, p.Find("label[for='"+id+"']").Length(), "a label for %q", id)
		require.NotEmpty(t, in.AttrOr("autocomplete", ""), "autocomplete of %q", id)
		if by, ok := in.Attr("aria-describedby"); ok {
			for _, ref := range strings.Fields(by) {
				require.Equal(t, 1, p.Find("#"+ref).Length(), "what %q is described by", id)
			}
		}
	})
	p.Find("img").Each(func(_ int, img *goquery.Selection) { require.NotEmpty(t, img.AttrOr("alt", "")) })
	p.Find("form").Each(func(_ int, f *goquery.Selection) {
		require.Equal(t, 1, f.Find("input[name=csrf]").Length())
		require.Positive(t, f.Find("button[type=submit]").Length())
	})
}

func (b *browser) get(to string) *page {
	b.s.t.Helper()
	if strings.HasPrefix(to, "/") {
		to = origin + to
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), http.MethodGet, to, nil)
	require.NoError(b.s.t, err)
	return b.do(r)
}

func (b *browser) post(to string, form url.Values, change ...func(*http.Request)) *page {
	b.s.t.Helper()
	if strings.HasPrefix(to, "/") {
		to = origin + to
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
	require.NoError(b.s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, fn := range change {
		fn(r)
	}
	return b.do(r)
}

// title is the page's heading.
func (p *page) title() string { return strings.TrimSpace(p.Find("h1").Text()) }

// alert is what the page says is wrong.
func (p *page) alert() string { return strings.TrimSpace(p.Find("[role=alert]:not([hidden])").Text()) }

// form returns the address and the fields of the form that has a field of the name, as a browser would send them.
func (p *page) form(field string) (action string, fields url.Values) {
	p.b.s.t.Helper()
	form := p.Find("form").FilterFunction(func(_ int, f *goquery.Selection) bool {
		return f.Find("[name='"+field+"']").Length() > 0
	}).First()
	require.Equal(p.b.s.t, 1, form.Length(), "no form with %s on the page %q: %s", field, p.title(), p.html)
	fields = url.Values{}
	form.Find("input").Each(func(_ int, in *goquery.Selection) { fields.Set(in.AttrOr("name", ""), in.AttrOr("value", "")) })
	require.Equal(p.b.s.t, "post", form.AttrOr("method", ""))
	to, err := p.Request.URL.Parse(form.AttrOr("action", ""))
	require.NoError(p.b.s.t, err)
	return to.String(), fields
}

// submit sends the form that has the first of the named fields, with the values given.
func (p *page) submit(values ...string) *page {
	p.b.s.t.Helper()
	action, fields := p.form(values[0])
	for i := 0; i < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	return p.b.post(action, fields)
}

// left returns the parameters with which the browser was sent back to the client.
func (p *page) left() url.Values {
	p.b.s.t.Helper()
	require.Contains(p.b.s.t, []int{http.StatusFound, http.StatusSeeOther}, p.StatusCode, "%s: %s", p.title(), p.html)
	to, err := p.Location()
	require.NoError(p.b.s.t, err)
	return to.Query()
}

// signInAs gives e-mail address and password on the sign-in page.
func (p *page) signInAs(u *ent.User) *page {
	p.b.s.t.Helper()
	return p.submit("email", u.Email, "password", secret)
}

// claims are those of an ID token that tests look at.
type claims struct {
	Subject string   `json:"sub"`
	Company string   `json:"company"`
	AMR     []string `json:"amr"`
	Auth    int64    `json:"auth_time"`
}

// claims redeems the code with which the browser was sent back, and returns the ID token's claims.
func (p *page) claims() (c claims) {
	_, verified := p.redeem()
	require.NoError(p.b.s.t, verified.Claims(&c))
	return c
}

// idToken redeems the code with which the browser was sent back.
func (p *page) idToken() string {
	raw, _ := p.redeem()
	return raw
}

func (p *page) redeem() (raw string, verified *oidc.IDToken) {
	s := p.b.s
	s.t.Helper()
	code := p.left().Get("code")
	require.NotEmpty(s.t, code, p.left())
	to, err := p.Location()
	require.NoError(s.t, err)
	id, redirect := s.app.ID, callback
	if strings.HasPrefix(to.String(), origin) {
		id, redirect = identity.WebClient, origin+"/login/callback"
	}
	ctx := oidc.ClientContext(s.t.Context(), s.srv.Client())
	conf := oauth2.Config{ClientID: id, RedirectURL: redirect, Endpoint: oauth2.Endpoint{TokenURL: origin + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams}}
	tok, err := conf.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	require.NoError(s.t, err)
	raw, _ = tok.Extra("id_token").(string)
	meta, err := oidc.NewProvider(ctx, origin)
	require.NoError(s.t, err)
	verified, err = meta.Verifier(&oidc.Config{ClientID: id, Now: s.Clock.Now}).Verify(ctx, raw)
	require.NoError(s.t, err)
	return raw, verified
}

func texts(p *page, selector string) (out []string) {
	p.Find(selector).Each(func(_ int, e *goquery.Selection) { out = append(out, strings.TrimSpace(e.Text())) })
	return out
}
