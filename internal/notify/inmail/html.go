package inmail

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxQuotes is how deep quotations are marked, and maxOpen how many elements are followed.
const (
	maxQuotes = 20
	maxOpen   = 500
	maxLink   = 2000 // bytes
)

// page turns HTML into lines, by its tokens: no tree, so that the nesting costs nothing.
type page struct {
	lines []line
	now   line            // what holds of the line that is being written
	text  strings.Builder // of it
	size  int             // bytes of the lines
	open  []element
	row   int // the number of the line at which the row of a table began; -1 before its first word

	space, cell bool // white space, or the line between two cells, comes before the next word
	breaks      int  // line ends that come before the next word
	quotes      int  // blockquotes around
	cited       int  // elements around that quote another mail
	silent, pre int  // elements around whose text is not shown, or as it is written
	added       int  // elements around that the mail program wrote
	intro       bool // in an element that begins with an introduction, up to the quotation itself
	cut         bool // another mail begins with the next line
	marked      bool
}

// element is an open element with what it changed.
type element struct {
	tag   atom.Atom
	undo  func(*page)
	href  string // of a link
	begin int    // where the text of the link begins: a length of size and text
	item  int    // the last number of an ordered list; -1 for bullets
}

// readPage returns the text of HTML. whole is false if it exceeds MaxText.
func readPage(s string) (c content, whole bool) {
	p := &page{}
	z := html.NewTokenizer(strings.NewReader(s))
	for p.size+p.text.Len() <= MaxText {
		switch z.Next() {
		case html.ErrorToken: // the end: a string has no other
			p.end()
			return content{lines: p.lines, html: true, marked: p.marked}, true
		case html.TextToken:
			if p.silent == 0 {
				p.write(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			p.close(atom.Lookup(name))
		}
	}
	return content{}, false
}

// write adds text.
func (p *page) write(s string) {
	if p.pre > 0 {
		for i, l := range strings.Split(s, "\n") {
			if i > 0 {
				p.newline()
			}
			if l == "" {
				continue
			}
			p.begin()
			p.text.WriteString(l)
		}
		return
	}
	for i, word := range strings.FieldsFunc(s, blank) {
		if i > 0 || startsBlank(s) {
			p.space = true
		}
		p.begin()
		p.text.WriteString(word)
	}
	if s != "" && blank(rune(s[len(s)-1])) {
		p.space = true
	}
}

// blank reports white space of HTML. A no-break space is one: programs indent by it.
func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\u00a0' }

func startsBlank(s string) bool {
	for _, r := range s {
		return blank(r)
	}
	return false
}

// begin writes what comes before a word.
func (p *page) begin() {
	if p.breaks > 0 {
		p.end()
		if p.breaks > 1 && len(p.lines) > 0 {
			p.lines = append(p.lines, line{cited: p.cited > 0})
		}
	}
	switch {
	case p.text.Len() == 0:
		p.now = line{cited: p.cited > 0, added: p.added > 0 || p.intro, cut: p.cut}
		p.text.WriteString(strings.Repeat("> ", min(p.quotes, maxQuotes)))
		p.cut = false
		if p.row < 0 {
			p.row = len(p.lines)
		}
	case p.cell:
		p.text.WriteString(" | ")
	case p.space:
		p.text.WriteByte(' ')
	}
	p.breaks, p.cell, p.space = 0, false, false
}

// end ends the line.
func (p *page) end() {
	if p.text.Len() > 0 {
		p.now.text = p.text.String()
		p.lines = append(p.lines, p.now)
		p.size += p.text.Len() + 1
		p.text.Reset()
	}
	p.space, p.cell = false, false
}

// block ends the line, and with two line ends the paragraph, before the next word. At the beginning of a cell it does nothing.
func (p *page) block(ends int) {
	if !p.cell {
		p.breaks = max(p.breaks, ends)
	}
}

// newline ends a line that may be empty.
func (p *page) newline() { p.breaks = min(p.breaks+1, 2) }

// cellStart puts a cell beside the one before it, as long as the row has one line.
func (p *page) cellStart() {
	if p.text.Len() > 0 && len(p.lines) == p.row {
		p.cell, p.breaks = true, 0
	}
}

// rowStart begins a row with the next line.
func (p *page) rowStart() {
	p.cell = false
	p.block(1)
	p.end()
	p.row = -1
}

// The elements that are no words of a line: void ones have no end, silent ones no text to be read, of the others some end a paragraph.
var (
	void = []atom.Atom{
		atom.Br, atom.Hr, atom.Img, atom.Meta, atom.Link, atom.Input, atom.Col, atom.Base, atom.Area, atom.Wbr, atom.Source,
	}
	silent = []atom.Atom{
		atom.Script, atom.Style, atom.Head, atom.Title, atom.Template, atom.Noscript, atom.Select, atom.Textarea, atom.Object, atom.Svg,
		atom.Iframe,
	}
	paragraphs = []atom.Atom{atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Pre}
	blocks     = []atom.Atom{
		atom.Div, atom.Tr, atom.Ul, atom.Ol, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Center, atom.Dl, atom.Dt, atom.Dd,
		atom.Blockquote,
	}
)

// start opens an element.
func (p *page) start(t html.Token) {
	a := attributes(t)
	e := element{tag: t.DataAtom, undo: func(*page) {}}
	switch tag := t.DataAtom; {
	case slices.Contains(silent, tag):
		p.silent++
		e.undo = func(p *page) { p.silent-- }
	case slices.Contains(paragraphs, tag):
		p.block(2)
		e.undo = func(p *page) { p.block(2) }
	case slices.Contains(blocks, tag):
		p.block(1)
		e.undo = func(p *page) { p.block(1) }
	case p.leaf(tag, a):
	case tag == atom.A:
		e.href, e.begin = a["href"], p.size+p.text.Len()
	case a["id"] == "" && a["class"] == "":
		return
	}
	switch t.DataAtom {
	case atom.Pre:
		p.pre++
		undo := e.undo
		e.undo = func(p *page) { undo(p); p.pre-- }
	case atom.Ul:
		e.item = -1
	case atom.Table:
		p.row = -1
	case atom.Td, atom.Th:
		e.undo = func(p *page) { p.cell = false }
	case atom.Tr:
		p.rowStart()
	}
	e.undo = p.quote(t.DataAtom, a, e.undo)
	if !slices.Contains(void, t.DataAtom) && len(p.open) < maxOpen && t.Type == html.StartTagToken {
		p.open = append(p.open, e)
	} else {
		e.undo(p)
	}
}

// leaf does what an element says at its beginning alone. It returns false for the others.
func (p *page) leaf(tag atom.Atom, a map[string]string) bool {
	switch tag {
	case atom.Body:
		p.silent = 0 // of a head that was never closed
	case atom.Br:
		p.newline()
	case atom.Hr:
		p.block(1)
		p.write("---")
		p.block(1)
	case atom.Img:
		if alt := strings.TrimSpace(a["alt"]); alt != "" && p.silent == 0 {
			p.write(" [" + short(alt, maxName) + "] ")
		}
	case atom.Li:
		p.item()
	case atom.Td, atom.Th:
		p.cellStart()
	default:
		return false
	}
	return true
}

// item begins an item of the innermost list.
func (p *page) item() {
	p.block(1)
	for i := len(p.open) - 1; i >= 0 && i > len(p.open)-50; i-- {
		if e := &p.open[i]; e.tag == atom.Ol {
			e.item++
			p.write(strconv.Itoa(e.item) + ".")
			p.space = true
			return
		} else if e.tag == atom.Ul {
			break
		}
	}
	p.write("-")
	p.space = true
}

// attributes returns those of a tag; of two with one name the first.
func attributes(t html.Token) map[string]string {
	if len(t.Attr) == 0 {
		return nil
	}
	out := make(map[string]string, len(t.Attr))
	for _, a := range t.Attr {
		if _, has := out[a.Key]; !has {
			out[a.Key] = a.Val
		}
	}
	return out
}

// close ends the innermost element of the kind, and those within it that were left open.
func (p *page) close(tag atom.Atom) {
	if tag == atom.Br || tag == atom.P && !p.within(tag) {
		p.newline()
		return
	}
	for i := len(p.open) - 1; i >= 0 && i > len(p.open)-50; i-- {
		if p.open[i].tag != tag {
			continue
		}
		for k := len(p.open) - 1; k >= i; k-- {
			p.leave(p.open[k])
		}
		p.open = p.open[:i]
		return
	}
}

func (p *page) within(tag atom.Atom) bool {
	for i := len(p.open) - 1; i >= 0 && i > len(p.open)-50; i-- {
		if p.open[i].tag == tag {
			return true
		}
	}
	return false
}

// leave undoes what an element changed, and writes where a link leads unless its text says so.
func (p *page) leave(e element) {
	if e.tag == atom.A && e.href != "" && p.silent == 0 && p.size+p.text.Len() > e.begin {
		if target := linkOf(e.href); target != "" && !strings.Contains(p.since(e.begin), strings.TrimSuffix(target, "/")) {
			p.text.WriteString(" (" + target + ")")
		}
	}
	e.undo(p)
}

// since returns the text of the line from a place on.
func (p *page) since(begin int) string {
	return p.text.String()[max(0, min(begin-p.size, p.text.Len())):]
}

// linkOf returns where a link leads that people can follow from a text: the address of a page or of a mailbox.
func linkOf(href string) string {
	href = strings.TrimSpace(href)
	u, err := url.Parse(href)
	switch {
	case err != nil || len(href) > maxLink || strings.ContainsFunc(href, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return ""
	case u.Scheme == "http" || u.Scheme == "https":
		return href
	case u.Scheme == "mailto":
		address, _, _ := strings.Cut(u.Opaque, "?")
		return address
	}
	return ""
}
