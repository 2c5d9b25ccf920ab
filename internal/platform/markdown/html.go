package markdown

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// tags are the elements that nodes are in a mail.
var tags = map[string]string{
	"paragraph": "p", "quote": "blockquote", "item": "li", "strong": "strong", "emphasis": "em", "strike": "s", "table": "table", "row": "tr", "cell": "td",
}

// HTML returns nodes as a mail shows them: with the elements that every mail program knows, without styles and images. Texts are escaped, and
// links lead where those of Parse do.
func HTML(nodes []Node) template.HTML {
	var out strings.Builder
	writeHTML(&out, nodes)
	return template.HTML(out.String()) // each text in it is escaped
}

func writeHTML(out *strings.Builder, nodes []Node) {
	for _, n := range nodes {
		begin, end := element(n)
		out.WriteString(begin)
		out.WriteString(html.EscapeString(n.Text))
		within := n.Children
		if n.Type == "item" && len(within) > 0 && within[0].Type == "paragraph" { // without a gap above it
			writeHTML(out, within[0].Children)
			within = within[1:]
		}
		writeHTML(out, within)
		out.WriteString(end)
	}
}

// element returns what begins and ends a node.
func element(n Node) (begin, end string) {
	switch n.Type {
	case "heading": // a mail has one heading, its title
		return "<p><strong>", "</strong></p>\n"
	case "list":
		if n.Start > 0 {
			return fmt.Sprintf("<ol start=\"%d\">\n", n.Start), "</ol>\n"
		}
		return "<ul>\n", "</ul>\n"
	case "item":
		return "<li>" + box(n), "</li>\n"
	case "cell":
		if n.Align != "" {
			return `<td align="` + html.EscapeString(n.Align) + `">`, "</td>"
		}
	case "code":
		return "<code>", "</code>"
	case "codeBlock":
		return "<pre>", "</pre>\n"
	case "rule":
		return "<hr>\n", ""
	case "break":
		return "<br>\n", ""
	case "link":
		return `<a href="` + html.EscapeString(n.Href) + `" rel="noopener noreferrer nofollow">`, "</a>"
	}
	tag, ok := tags[n.Type]
	if !ok {
		return "", ""
	}
	end = "</" + tag + ">"
	if blocks[n.Type] {
		end += "\n"
	}
	return "<" + tag + ">", end
}

// blocks are the nodes that stand on lines of their own.
var blocks = map[string]bool{"paragraph": true, "quote": true, "table": true, "row": true}

// box returns the sign before a task; empty for an item that is none.
func box(item Node) string {
	switch {
	case item.Checked == nil:
		return ""
	case *item.Checked:
		return "☑ "
	}
	return "☐ "
}
