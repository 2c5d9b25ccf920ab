package markdown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/markdown"
)

// written is a tree in short: each node's type and what is special about it, and what is in it in brackets.
func written(nodes []markdown.Node) string {
	var parts []string
	for _, n := range nodes {
		s := n.Type
		if n.Type == "text" {
			s = n.Text
		} else if n.Text != "" {
			s += "=" + n.Text
		}
		if n.Href != "" {
			s += "=" + n.Href
		}
		if n.Checked != nil && *n.Checked {
			s += "=done"
		}
		if len(n.Children) > 0 {
			s += "(" + written(n.Children) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "|")
}

func TestParse(t *testing.T) {
	for source, want := range map[string]string{
		"":                                       "",
		"Hello":                                  "paragraph(Hello)",
		"one\ntwo":                               "paragraph(one|break|two)",
		"a *b* **c** ~~d~~ `e*`":                 "paragraph(a |emphasis(b)| |strong(c)| |strike(d)| |code=e*)",
		"# A\n\ntext":                            "heading(A)|paragraph(text)",
		"> quoted":                               "quote(paragraph(quoted))",
		"- a\n- b\n  1. c":                       "list(item(paragraph(a))|item(paragraph(b)|list(item(paragraph(c)))))",
		"- [x] done\n- [ ] open":                 "list(item=done(paragraph(done))|item(paragraph(open)))",
		"```go\nx := \"<b>\"\n```":               "codeBlock=x := \"<b>\"",
		"    indented":                           "codeBlock=indented",
		"---":                                    "rule",
		"|a|b|\n|-|:-:|\n|1|2|":                  "table(row(cell(a)|cell(b))|row(cell(1)|cell(2)))",
		`5 \* 3 &amp; \&lt; C:\x`:                `paragraph(5 * 3 & &lt; C:\x)`,
		"&copy; &#128512; &nope;":                "paragraph(© 😀 &nope;)",
		"[a](https://x.test/?q=1)":               "paragraph(link=https://x.test/?q=1(a))",
		"see https://x.test and ada@example.com": "paragraph(see |link=https://x.test(https://x.test)| and |link=mailto:ada@example.com(ada@example.com))",
		// What could run, load or lead astray is text.
		"<script>alert(1)</script>":         "paragraph(<script>alert(1)</script>)",
		"a <b onclick=x>b</b>":              "paragraph(a <b onclick=x>b</b>)",
		"[a](javascript:alert(1))":          "paragraph(a)",
		"[a](JaVaScRiPt:alert(1))":          "paragraph(a)",
		"[a](data:text/html,x)":             "paragraph(a)",
		"[a](//evil.test)":                  "paragraph(a)",
		"[a](/app/settings)":                "paragraph(a)",
		"[a](https:evil)":                   "paragraph(a)",
		"![cat](https://x.test/cat.png)":    "paragraph(link=https://x.test/cat.png(cat))",
		"![](https://x.test/cat.png)":       "paragraph(link=https://x.test/cat.png(https://x.test/cat.png))",
		"[x]\n\n[x]: javascript:alert(1)":   "paragraph(x)",
		"<javascript:alert(1)>":             "paragraph(javascript:alert(1))",
		strings.Repeat(">", 21) + " a":      "paragraph(" + strings.Repeat(">", 21) + " a)",
		strings.Repeat("> ", 18) + "a":      strings.Repeat("quote(", 18) + "paragraph(a)" + strings.Repeat(")", 18),
		strings.Repeat("[", 501):            "paragraph(" + strings.Repeat("[", 501) + ")",
		strings.Repeat("- ", 30) + "a":      "paragraph(" + strings.Repeat("- ", 30) + "a)",
		strings.Repeat("*a **b ", 30) + "c": "paragraph(" + strings.Repeat("*a **b ", 30) + "c)",
	} {
		require.Equal(t, want, written(markdown.Parse(source)), source)
	}
}

// Whatever is typed comes back as a tree of bounded depth whose links lead to http, https and mailto alone.
func TestAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.OneOf(rapid.String(), rapid.StringMatching("([a-c*_`~<>|&;:/\\\\\\[\\]()!#+ \t\n-]|https://|javascript:|&amp;){0,60}")).Draw(t, "source")
		var look func(nodes []markdown.Node, depth int)
		look = func(nodes []markdown.Node, depth int) {
			require.LessOrEqual(t, depth, 21)
			for _, n := range nodes {
				require.NotEmpty(t, n.Type)
				if n.Type == "link" {
					require.Regexp(t, "^(https?://|mailto:)", strings.ToLower(n.Href))
				}
				look(n.Children, depth+1)
			}
		}
		nodes := markdown.Parse(source)
		look(nodes, 0)
		_, err := json.Marshal(nodes)
		require.NoError(t, err)
	})
}

// Nothing of 10,000 characters takes long.
func TestHostile(t *testing.T) {
	for _, piece := range []string{">", "> ", "- ", "1. ", "[", "![", "[a](", "*", "**a ", "_a *b ", "`", "<", "<a", "&", "&#", "\\", "|", "|-", "a|b\n-|-\n", "~~", "~", "http://", "www.", "a@", "[a]: b\n", "#", "\n>", "\n- ", " -\n", "\t", "```\n", "<!--", "<?", "[^", "- [ ] ", ">- "} {
		source := strings.Repeat(piece, 10_000/len(piece))
		began := time.Now()
		markdown.Parse(source)
		took := time.Since(began)
		require.Less(t, took, 500*time.Millisecond, piece)
		t.Logf("%8.1f ms %q", float64(took.Microseconds())/1000, piece)
	}
}

func BenchmarkParse(b *testing.B) {
	source := strings.Repeat("Some *text* with a [link](https://x.test) and `code`.\n\n- one\n- two\n\n> quoted\n\n", 40)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		markdown.Parse(source)
	}
}
