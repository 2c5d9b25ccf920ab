package pages

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/identity/provider"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/ratelimit"
)

//go:embed layout.html message.html framed.html
var own embed.FS

//go:embed static
var static embed.FS

// PathStatic is the path of Static.
const PathStatic = "/signin/static/"

// maxForm limits a posted form, in bytes; a passkey's answer is the largest, with a few thousand.
const maxForm = 64 << 10

// LayoutOptions configure a Layout.
type LayoutOptions struct {
	AuthURL string // origin of the hosted pages: https://host[:port]
	Pages   fs.FS  // NAME.html: the body of the page NAME, an html/template that may use what layout.html defines; nil for none
	Log     *slog.Logger

	// Reader returns the printer of the person who is signed in at the hosted pages in the browser; without a language for nobody, and
	// for who has chosen none. nil for nobody.
	Reader func(*http.Request) locale.Printer
}

// Layout renders hosted pages with one stylesheet, under one content security policy. Safe for concurrent use.
type Layout struct {
	pages   map[string]map[string]*template.Template // by language and name
	reader  func(*http.Request) locale.Printer
	origin  string
	style   string // addresses of the static files, with their hashes
	script  string
	foreign *http.CrossOriginProtection
	log     *slog.Logger
}

// Page is one answer.
type Page struct {
	Body    string                 // name of the page's template
	Title   locale.Text            // also the heading
	Intro   locale.Text            // a sentence below the heading
	Error   locale.Text            // the fault, read out by screen readers
	Faults  map[string]locale.Text // faults by field
	Values  url.Values             // the fields' values; never a password or a code
	Passkey bool                   // the page needs the script
	Leads   []string               // sources (LeadsTo) to which a form of the page may lead, besides our own
	Wide    bool                   // a list rather than a form
	Data    any                    // for the template, as .Data
}

// view is the data of templates: a page in one language.
type view struct {
	Page
	Title, Intro, Error           string
	Faults                        map[string]string
	Language, CSRF, Style, Script string
}

// in returns the page's view for a reader.
func (p Page) in(reader locale.Printer) view {
	v := view{
		Page: p, Title: reader.T(p.Title), Intro: reader.T(p.Intro), Error: reader.T(p.Error), Faults: map[string]string{}, Language: reader.Language,
	}
	for field, fault := range p.Faults {
		v.Faults[field] = reader.T(fault)
	}
	return v
}

// NewLayout reads the templates.
func NewLayout(o LayoutOptions) (*Layout, error) {
	u, err := url.Parse(o.AuthURL)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("pages: the address of the hosted pages must be an origin (https://host[:port])")
	}
	l := &Layout{
		pages: map[string]map[string]*template.Template{}, reader: o.Reader, origin: u.Scheme + "://" + u.Host,
		foreign: http.NewCrossOriginProtection(), log: o.Log,
	}
	if err := l.foreign.AddTrustedOrigin(l.origin); err != nil {
		return nil, fmt.Errorf("pages: trust the pages' own origin: %w", err)
	}
	if l.style, err = staticPath("signin.css"); err != nil {
		return nil, err
	}
	if l.script, err = staticPath("passkey.js"); err != nil {
		return nil, err
	}
	for _, lang := range locale.Languages {
		base, err := template.New("layout.html").Funcs(locale.Funcs(lang)).Funcs(template.FuncMap{"input": newInput, "list": list}).
			ParseFS(own, "layout.html", "message.html", "framed.html")
		if err != nil {
			return nil, fmt.Errorf("pages: read the layout: %w", err)
		}
		if l.pages[lang], err = read(base, o.Pages); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// builtIn are the pages of every Layout.
var builtIn = map[string]string{"message": `{{template "message" .}}`, "framed": `{{template "framed" .}}`}

// read parses every page on top of a copy of the layout.
func read(base *template.Template, pages fs.FS) (map[string]*template.Template, error) {
	var names []string
	if pages != nil {
		var err error
		if names, err = fs.Glob(pages, "*.html"); err != nil {
			return nil, fmt.Errorf("pages: list the pages: %w", err)
		}
	}
	out, bodies := map[string]*template.Template{}, maps.Clone(builtIn)
	for _, file := range names {
		text, err := fs.ReadFile(pages, file)
		if err != nil {
			return nil, fmt.Errorf("pages: read a page: %w", err)
		}
		if name := strings.TrimSuffix(file, ".html"); name != "layout" && builtIn[name] == "" {
			bodies[name] = string(text)
		}
	}
	for name, text := range bodies {
		t, err := base.Clone()
		if err == nil {
			_, err = t.New("body").Parse(text)
		}
		if err != nil {
			return nil, fmt.Errorf("pages: read the page %s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

// Render answers with a page. Handlers whose pages contain a form with a token must run behind Guard, which sets the
// cookie that the token is bound to.
func (l *Layout) Render(w http.ResponseWriter, r *http.Request, status int, p Page) {
	reader := l.Printer(r)
	t := l.pages[reader.Language][p.Body]
	if t == nil {
		l.log.ErrorContext(r.Context(), "a page has no template", "page", p.Body)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	v := p.in(reader)
	v.CSRF, v.Style = FormToken(r), l.style
	if p.Passkey {
		v.Script = l.script
	}
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		l.log.ErrorContext(r.Context(), "a page could not be rendered", "page", p.Body, "error", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Security-Policy", policy(p))
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the browser may have closed the connection
}

// Printer returns the printer for whoever sent a request. The language is the one that the address asks for (ui_locales of OpenID
// Connect), else the one that the person who is signed in has chosen, else the browser's, else English.
func (l *Layout) Printer(r *http.Request) (p locale.Printer) {
	if l.reader != nil {
		p = l.reader(r)
	}
	p.Language = cmp.Or(locale.Match(r.URL.Query().Get("ui_locales")), p.Language, locale.Match(r.Header.Get("Accept-Language")), locale.English)
	return p
}

// secure sets the headers of every answer: nobody may frame, cache or sniff it. Only our own pages get our addresses as
// referrer; without any referrer, browsers would also hide the origin of forms.
func secure(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", policy(Page{}))
}

// policy returns the content security policy of a page. Browsers also check the redirects that follow a form against
// form-action, so the client must be named.
func policy(p Page) string {
	var b strings.Builder
	b.WriteString("default-src 'none'; style-src 'self'; img-src 'self' data:; ")
	if p.Passkey {
		b.WriteString("script-src 'self'; ")
	}
	b.WriteString("form-action 'self'")
	for _, source := range p.Leads {
		b.WriteString(" " + source)
	}
	b.WriteString("; frame-ancestors 'none'; base-uri 'none'")
	return b.String()
}

// LeadsTo returns the sources of the addresses for Page.Leads, each once.
func LeadsTo(addresses ...string) []string {
	var out []string
	for _, a := range addresses {
		if source := identity.FormAction(a); source != "" && !slices.Contains(out, source) {
			out = append(out, source)
		}
	}
	return out
}

// Origin returns the origin of the hosted pages.
func (l *Layout) Origin() string { return l.origin }

// Guard protects the pages. It sets the cookie that forms are bound to, refuses forms that come from another site, were
// shown to another browser or are too large, and parses the others. Templates put {{template "csrf" .}} into every form.
func (l *Layout) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		r = withForm(w, r)
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		if err := l.foreign.Check(r); err != nil {
			l.stale(w, r)
			return
		}
		if err := gate.ReadForm(w, r, maxForm); err != nil {
			l.Message(w, r, http.StatusBadRequest, locale.Say("That did not arrive"), locale.Say("The form could not be read. Go back and try again."), Link{})
			return
		}
		if !validForm(r) {
			l.stale(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stale answers a form that was shown to another browser, or before the person signed in or out.
func (l *Layout) stale(w http.ResponseWriter, r *http.Request) {
	var again Link
	if u, err := url.Parse(r.Referer()); err == nil && u.Scheme+"://"+u.Host == l.origin {
		again = Link{Text: locale.Say("Load the page again"), To: u.RequestURI()}
	}
	l.Message(w, r, http.StatusForbidden, locale.Say("This page is out of date"),
		locale.Say("You have signed in or out since it was opened, or your browser does not keep our cookies. Nothing was changed."), again)
}

// Link is a link at the end of a message.
type Link struct {
	Text locale.Text
	To   string
}

// Message answers with a page that shows a text and, unless it is empty, a link.
func (l *Layout) Message(w http.ResponseWriter, r *http.Request, status int, title, text locale.Text, on Link) {
	l.Render(w, r, status, Page{Body: "message", Title: title, Intro: text, Data: on})
}

// Frame renders the provider's own pages in this layout; it is the provider's Options.Render.
func (l *Layout) Frame(w http.ResponseWriter, r *http.Request, p provider.Page) {
	page := Page{Body: "framed", Title: p.Title, Data: p}
	if p.FormTo != "" {
		page.Leads = []string{p.FormTo}
	}
	l.Render(w, r, p.Status, page)
}

// Broken logs an internal error, and answers without its text.
func (l *Layout) Broken(w http.ResponseWriter, r *http.Request, err error) {
	level := slog.LevelError
	if r.Context().Err() != nil {
		level = slog.LevelDebug // the browser has closed the connection
	}
	l.log.Log(r.Context(), level, "a page failed", "error", err, "path", r.URL.Path, "requestId", gate.RequestID(w))
	text := locale.Say("Something went wrong on our side. Try again in a moment.")
	if id := gate.RequestID(w); id != "" {
		text = locale.Say("Something went wrong on our side. Try again in a moment. If it happens again, tell support this: %s", id)
	}
	l.Message(w, r, http.StatusInternalServerError, locale.Say("Sorry, that failed"), text, Link{})
}

// RetryAfter sets the header that tells the browser how long to wait.
func RetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(ratelimit.RetryAfter(wait)))
}

// Static serves the stylesheet and the script of the pages. Their addresses change with their content.
func Static() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		body, err := static.ReadFile("static/" + name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	})
}

// staticPath returns the address of a static file, which contains a hash of the file.
func staticPath(name string) (string, error) {
	body, err := static.ReadFile("static/" + name)
	if err != nil {
		return "", fmt.Errorf("pages: read a static file: %w", err)
	}
	sum := sha256.Sum256(body)
	return PathStatic + name + "?v=" + hex.EncodeToString(sum[:6]), nil
}
