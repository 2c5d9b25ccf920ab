package inmail

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// quote looks at how programs mark quotations, and returns undo with what the element ends besides.
//
//	Gmail            div.gmail_quote with the introduction (.gmail_attr) and blockquote.gmail_quote, or with a mail that is passed on
//	Apple Mail       blockquote[type=cite]
//	Thunderbird      div.moz-cite-prefix, blockquote[type=cite]
//	Outlook          #appendonsend, #divRplyFwdMsg, a line above the header; #mail-editor-reference-message-container
//	Yahoo, Proton, Zoho and others: a class of their own
func (p *page) quote(tag atom.Atom, a map[string]string, undo func(*page)) func(*page) {
	id, class := strings.ToLower(a["id"]), " "+strings.ToLower(a["class"])+" "
	if p.begins(tag, id, a) {
		p.block(1)
		p.marked, p.cut = true, true
	}
	switch {
	case tag == atom.Blockquote:
		p.quotes++
		if !strings.EqualFold(a["type"], "cite") && !strings.Contains(class, "quote") && !p.quoting() && !strings.Contains(a["style"], "border-left") {
			return func(p *page) { undo(p); p.quotes-- }
		}
		p.intro = false
		p.cited++
		p.marked = true
		return func(p *page) { undo(p); p.quotes--; p.cited-- }
	case hasClass(class, "gmail_attr", "moz-cite-prefix") || strings.Contains(class, "signature"):
		p.block(1)
		p.added++
		return func(p *page) { p.block(1); undo(p); p.added-- }
	case hasClass(class, "gmail_quote", "gmail_extra", "protonmail_quote"):
		p.block(1)
		p.marked, p.intro = true, true
		return func(p *page) { p.block(1); undo(p); p.intro = false }
	case hasClass(class, "yahoo_quoted", "zmail_extra", "tutanota_quote") || strings.HasPrefix(id, "yahoo_quoted"):
		p.block(1)
		p.marked = true
		p.cited++
		return func(p *page) { p.block(1); undo(p); p.cited-- }
	}
	return undo
}

// hasClass reports whether a list of classes between spaces has one of the names.
func hasClass(list string, names ...string) bool {
	for _, name := range names {
		if strings.Contains(list, " "+name+" ") {
			return true
		}
	}
	return false
}

// begins reports whether an element is the one at which Outlook begins the other mail.
func (p *page) begins(tag atom.Atom, id string, a map[string]string) bool {
	switch {
	case strings.HasSuffix(id, "appendonsend"), strings.HasSuffix(id, "divrplyfwdmsg"),
		strings.HasSuffix(id, "mail-editor-reference-message-container"), strings.HasSuffix(id, "ms-outlook-mobile-reference-message"):
		return true
	case tag == atom.A && a["name"] == "_MailOriginal":
		return true
	case tag == atom.Div:
		style := strings.ReplaceAll(strings.ToLower(a["style"]), " ", "")
		return strings.Contains(style, "border-top:solid#e1e1e1") || strings.Contains(style, "border-top:solid#b5c4df")
	}
	return false
}

// quoting reports whether an element around is one that quotes.
func (p *page) quoting() bool { return p.cited > 0 || p.intro }
