package markdown

import (
	"fmt"
	"strings"
)

// Text returns nodes as plain text for people: lists and quotations with their marks, the address of a link after its text, and code as it is.
// What is only stressed has no marks.
func Text(nodes []Node) string {
	return strings.TrimRight(strings.Join(paragraphs(nodes), "\n\n"), "\n ")
}

// paragraphs returns a text for each block.
func paragraphs(nodes []Node) []string {
	var out []string
	for _, n := range nodes {
		if s := block(n); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func block(n Node) string {
	switch n.Type {
	case "quote":
		return indented("> ", "> ", Text(n.Children))
	case "codeBlock":
		return indented("    ", "    ", n.Text)
	case "rule":
		return "* * *"
	case "table":
		rows := make([]string, len(n.Children))
		for i, row := range n.Children {
			cells := make([]string, len(row.Children))
			for k, cell := range row.Children {
				cells[k] = inline(cell.Children)
			}
			rows[i] = strings.Join(cells, " | ")
		}
		return strings.Join(rows, "\n")
	case "list":
		items := make([]string, len(n.Children))
		for i, item := range n.Children {
			mark := "- "
			if n.Start > 0 {
				mark = fmt.Sprintf("%d. ", n.Start+i)
			}
			items[i] = indented(mark+box(item), strings.Repeat(" ", len(mark)), strings.Join(paragraphs(item.Children), "\n"))
		}
		return strings.Join(items, "\n")
	}
	return inline([]Node{n})
}

// inline returns pieces of a block as a text.
func inline(nodes []Node) string {
	var out strings.Builder
	for _, n := range nodes {
		within := n.Text + inline(n.Children)
		switch n.Type {
		case "break":
			within = "\n"
		case "strike": // without, it would say the contrary
			within = "~~" + within + "~~"
		case "link":
			if bare := strings.TrimPrefix(n.Href, "mailto:"); within != bare && within != n.Href && "http://"+within != n.Href {
				within += " (" + bare + ")"
			}
		}
		out.WriteString(within)
	}
	return out.String()
}

// indented puts a mark before the first line of a text, and another before those that follow.
func indented(first, next, s string) string {
	return first + strings.ReplaceAll(s, "\n", "\n"+next)
}
