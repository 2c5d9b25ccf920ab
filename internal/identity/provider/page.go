package provider

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"atrium/internal/platform/locale"
)

// Page is an HTML page that the provider shows to a person: a text, and a form that signs out if it has an action.
type Page struct {
	Status int
	Title  locale.Text
	Text   locale.Text // below the title
	Action string      // the address of the form; empty for none
	Hidden url.Values  // the form's hidden fields
	FormTo string      // the source (identity.FormAction) that the form may redirect to besides our own; empty for none
}

var plain = template.Must(template.New("page").Funcs(locale.Funcs(locale.English)).Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{t .Title}}</title></head>
<body><main><h1>{{t .Title}}</h1><p>{{t .Text}}</p>{{if .Action}}
<form method="post" action="{{.Action}}">
{{range $name, $values := .Hidden}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<button type="submit" name="confirm" value="yes">Sign out</button>
</form>{{end}}</main></body>
</html>
`))

// plainPage writes a page without a stylesheet, in English.
func plainPage(w http.ResponseWriter, _ *http.Request, page Page) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", strings.TrimSpace("default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "+page.FormTo))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(page.Status)
	_ = plain.Execute(w, page) // the browser may have closed the connection
}

// message shows a page with a text.
func (p *Provider) message(w http.ResponseWriter, r *http.Request, status int, title, text locale.Text) {
	p.render(w, r, Page{Status: status, Title: title, Text: text})
}
