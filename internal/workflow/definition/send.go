package definition

import (
	"net/url"
	"strings"
)

// Send is one secret that a call names, and so sends to its address or signs with.
type Send struct {
	Secret string
	Host   string // as the author wrote it; empty if expressions make it
	Place  string // the address up to the path, as the author wrote it: api.example.com:8443, ${request.fields.shop}.example.com
	Field  string // the path of the address, for a details row
}

// Sends returns what the calls of the definition do with secrets, in the order of its phases.
func (d *Definition) Sends() []Send {
	var list []Send
	for _, p := range d.Phases {
		names := p.Secrets()
		if len(names) == 0 {
			continue
		}
		host, place := p.address().authority()
		for _, name := range names {
			list = append(list, Send{Secret: name, Host: host, Place: place, Field: p.path + ".config.url"})
		}
	}
	return list
}

// Secrets returns the names of the secrets that the phase's call reads, each once; none for a phase that calls nobody.
func (p *Phase) Secrets() []string {
	var names []string
	value := func(v *Value) {
		if v != nil {
			names = append(names, v.Secrets()...)
		}
	}
	if t := p.address(); t != nil {
		names = t.Secrets()
	}
	switch {
	case p.Callout != nil:
		value(p.Callout.Data)
		if p.Callout.SigningSecret != "" {
			names = append(names, p.Callout.SigningSecret)
		}
	case p.APICall != nil:
		for _, h := range p.APICall.Headers {
			names = append(names, h.Value.Secrets()...)
		}
		value(p.APICall.Body)
	}
	return unique(names)
}

// address returns the address that the phase calls; nil if it calls nobody.
func (p *Phase) address() *Template {
	switch {
	case p.Callout != nil:
		return p.Callout.URL
	case p.APICall != nil:
		return p.APICall.URL
	}
	return nil
}

// authority returns the host of a URL's template, which is empty if an expression stands before the path, and what stands there. What an
// expression gives is percent-encoded, so none ends the host.
func (t *Template) authority() (host, place string) {
	var b strings.Builder
	made := false
	for i, p := range t.parts {
		text := p.text
		if i == 0 {
			text = text[len("https://"):] // as url has checked
		}
		if p.expr != nil {
			made = true
			b.WriteString("${" + p.code + "}")
			continue
		}
		if end := strings.IndexAny(text, "/?#"); end >= 0 {
			b.WriteString(text[:end])
			break
		}
		b.WriteString(text)
	}
	if place = b.String(); made {
		return "", place
	}
	u, err := url.Parse("https://" + place)
	if err != nil {
		return "", place
	}
	return u.Hostname(), place
}
