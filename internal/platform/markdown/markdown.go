package markdown

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Node is a block or a piece of one. Type is one of paragraph, heading, quote, list, item, codeBlock, rule, table, row, cell; and within
// those text, strong, emphasis, strike, code, link, break.
type Node struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`     // of text, code and codeBlock
	Level    int    `json:"level,omitempty"`    // of a heading, 1 to 6
	Start    int    `json:"start,omitempty"`    // of an ordered list; 0 for one with bullets
	Checked  *bool  `json:"checked,omitempty"`  // of an item that is a task
	Href     string `json:"href,omitempty"`     // of a link
	Align    string `json:"align,omitempty"`    // of a cell: left, center or right
	Children []Node `json:"children,omitempty"` // in order
}

// maxDepth bounds how deep nodes are nested, and maxBrackets how many links a text may seem to begin.
const (
	maxDepth    = 20
	maxBrackets = 500
)

var (
	reader = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	deep   = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){21}`)
)

// Parse returns the blocks of a text.
func Parse(source string) []Node {
	if deep.MatchString(source) || strings.Count(source, "[") > maxBrackets {
		return []Node{{Type: "paragraph", Children: []Node{{Type: "text", Text: source}}}}
	}
	t := tree{[]byte(source)}
	return t.children(reader.Parse(text.NewReader(t.source)), 0)
}

// tree makes nodes of what was read from a source.
type tree struct{ source []byte }

// children returns the nodes below n. Texts that follow on each other are one.
func (t tree) children(n ast.Node, depth int) []Node {
	var out []Node
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		for _, node := range t.node(c, depth+1) {
			if last := len(out) - 1; last >= 0 && node.Type == "text" && out[last].Type == "text" {
				out[last].Text += node.Text
				continue
			}
			out = append(out, node)
		}
	}
	return out
}

// node returns what n is shown as: mostly one node, or what is in it.
func (t tree) node(n ast.Node, depth int) []Node {
	if leaf, ok := t.leaf(n); ok {
		return leaf
	}
	within := t.children(n, depth)
	if depth > maxDepth {
		return within
	}
	one := Node{Children: within}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		one.Type = "paragraph"
	case *ast.Heading:
		one.Type, one.Level = "heading", n.Level
	case *ast.Blockquote:
		one.Type = "quote"
	case *ast.List:
		one.Type, one.Start = "list", n.Start
	case *ast.ListItem:
		one.Type, one.Checked = "item", checked(n)
	case *extast.Table:
		one.Type = "table"
	case *extast.TableHeader, *extast.TableRow:
		one.Type = "row"
	case *extast.TableCell:
		one.Type = "cell"
		if n.Alignment != extast.AlignNone {
			one.Align = n.Alignment.String()
		}
	case *ast.Emphasis:
		one.Type = []string{"emphasis", "strong"}[n.Level-1]
	case *extast.Strikethrough:
		one.Type = "strike"
	case *ast.Link:
		return linked(string(n.Destination), within)
	case *ast.Image:
		return linked(string(n.Destination), within)
	default:
		return within
	}
	return []Node{one}
}

// leaf returns what n is shown as if it holds nothing but text.
func (t tree) leaf(n ast.Node) ([]Node, bool) {
	switch n := n.(type) {
	case *ast.Text:
		out := []Node{{Type: "text", Text: plain(n.Segment.Value(t.source))}}
		if n.SoftLineBreak() || n.HardLineBreak() {
			out = append(out, Node{Type: "break"})
		}
		return out, true
	case *ast.String:
		return []Node{{Type: "text", Text: string(n.Value)}}, true
	case *ast.CodeSpan:
		return []Node{{Type: "code", Text: t.raw(n)}}, true
	case *ast.AutoLink:
		href := string(n.URL(t.source))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(href, "mailto:") {
			href = "mailto:" + href
		}
		return linked(href, []Node{{Type: "text", Text: string(n.Label(t.source))}}), true
	case *ast.RawHTML:
		return []Node{{Type: "text", Text: string(n.Segments.Value(t.source))}}, true
	case *ast.HTMLBlock:
		lines := string(n.Lines().Value(t.source))
		if n.HasClosure() {
			lines += string(n.ClosureLine.Value(t.source))
		}
		return []Node{{Type: "paragraph", Children: []Node{{Type: "text", Text: strings.TrimRight(lines, "\n")}}}}, true
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return []Node{{Type: "codeBlock", Text: strings.TrimRight(string(n.Lines().Value(t.source)), "\n")}}, true
	case *ast.ThematicBreak:
		return []Node{{Type: "rule"}}, true
	case *extast.TaskCheckBox:
		return nil, true
	}
	return nil, false
}

// raw returns the texts below n as they were typed.
func (t tree) raw(n ast.Node) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c, ok := c.(*ast.Text); ok {
			out.Write(c.Segment.Value(t.source))
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

// checked returns whether a task is done; nil for an item that is none.
func checked(item *ast.ListItem) *bool {
	if item.FirstChild() == nil {
		return nil
	}
	if box, ok := item.FirstChild().FirstChild().(*extast.TaskCheckBox); ok {
		return &box.IsChecked
	}
	return nil
}

// linked returns the nodes as a link, or as they are where it would lead to nothing that pages lead to.
func linked(href string, within []Node) []Node {
	to, err := url.Parse(href)
	if err != nil || !slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(to.Scheme)) || to.Scheme != "mailto" && to.Host == "" {
		return within
	}
	if len(within) == 0 {
		within = []Node{{Type: "text", Text: href}}
	}
	return []Node{{Type: "link", Href: to.String(), Children: within}}
}

// plain returns a piece of text without escapes and with its references resolved.
func plain(b []byte) string {
	var out strings.Builder
	for {
		at := slices.Index(b, '\\')
		if at < 0 || at+1 == len(b) {
			out.Write(resolved(b))
			return out.String()
		}
		out.Write(resolved(b[:at]))
		if !util.IsPunct(b[at+1]) {
			out.WriteByte('\\')
		}
		_, size := utf8.DecodeRune(b[at+1:])
		out.Write(b[at+1 : at+1+size])
		b = b[at+1+size:]
	}
}

func resolved(b []byte) []byte { return util.ResolveEntityNames(util.ResolveNumericReferences(b)) }

// Escape returns a text in Markdown that is shown as it stands: without marks, links and references of its own.
func Escape(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf && util.IsPunct(byte(r)) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
