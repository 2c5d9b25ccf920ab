package provider

import (
	"html/template"
	"net/http"
	"strings"
)

// Page is an HTML page that the provider shows to a person.
type Page struct {
	Status int
	Title  string
	Body   template.HTML // below the title
	FormTo string        // the source (identity.FormAction) that the page's form may redirect to besides our own; empty for none
}

var bodies = template.Must(template.New("message").Parse(`<p>{{.}}</p>
{{define "logout"}}<p>You will be signed out here, and in the applications that you use with this sign-in.</p>
<form method="post" action="{{.Action}}">
{{range $name, $values := .Hidden}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<button type="submit" name="confirm" value="yes">Sign out</button>
</form>{{end}}`))

var plain = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title></head>
<body><main><h1>{{.Title}}</h1>{{.Body}}</main></body>
</html>
`))

// plainPage writes a page without a stylesheet.
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
func (p *Provider) message(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	p.show(w, r, Page{Status: status, Title: title}, "message", text)
}

// show renders a page whose body is one of the templates.
func (p *Provider) show(w http.ResponseWriter, r *http.Request, page Page, body string, data any) {
	var b strings.Builder
	if err := bodies.ExecuteTemplate(&b, body, data); err != nil {
		p.log.ErrorContext(r.Context(), "a page was not rendered", "page", body, "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	page.Body = template.HTML(b.String()) // html/template has just escaped it
	p.render(w, r, page)
}
