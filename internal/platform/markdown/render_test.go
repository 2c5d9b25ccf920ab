package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/markdown"
)

// What people write in Markdown, as a mail shows it and as plain text.
func TestRender(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct{ html, text string }{
		"It is *slow* and **hot**, ~~not~~ `rm *`": {"<p>It is <em>slow</em> and <strong>hot</strong>, <s>not</s> <code>rm *</code></p>\n", "It is slow and hot, ~~not~~ rm *"},
		"# Plan\n\none\ntwo":                       {"<p><strong>Plan</strong></p>\n<p>one<br>\ntwo</p>\n", "Plan\n\none\ntwo"},
		"- a\n- b\n  1. c\n  2. d":                 {"<ul>\n<li>a</li>\n<li>b<ol start=\"1\">\n<li>c</li>\n<li>d</li>\n</ol>\n</li>\n</ul>\n", "- a\n- b\n  1. c\n  2. d"},
		"- [x] done\n- [ ] open":                   {"<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>\n", "- ☑ done\n- ☐ open"},
		"> quoted\n> twice\n\nand":                 {"<blockquote><p>quoted<br>\ntwice</p>\n</blockquote>\n<p>and</p>\n", "> quoted\n> twice\n\nand"},
		"```\nif a < b\n```":                       {"<pre>if a &lt; b</pre>\n", "    if a < b"},
		"|a|b|\n|-|:-:|\n|1|2|":                    {"<table><tr><td>a</td><td align=\"center\">b</td></tr>\n<tr><td>1</td><td align=\"center\">2</td></tr>\n</table>\n", "a | b\n1 | 2"},
		"a\n\n---\n\nb":                            {"<p>a</p>\n<hr>\n<p>b</p>\n", "a\n\n* * *\n\nb"},
		"[the plan](https://x.test/?a=1&b=2)":      {"<p><a href=\"https://x.test/?a=1&amp;b=2\" rel=\"noopener noreferrer nofollow\">the plan</a></p>\n", "the plan (https://x.test/?a=1&b=2)"},
		"https://x.test and ada@x.test":            {"<p><a href=\"https://x.test\" rel=\"noopener noreferrer nofollow\">https://x.test</a> and <a href=\"mailto:ada@x.test\" rel=\"noopener noreferrer nofollow\">ada@x.test</a></p>\n", "https://x.test and ada@x.test"},
		"![a cat](https://x.test/cat.png)":         {"<p><a href=\"https://x.test/cat.png\" rel=\"noopener noreferrer nofollow\">a cat</a></p>\n", "a cat (https://x.test/cat.png)"},
		`<img src=x onerror="alert(1)">`:           {"<p>&lt;img src=x onerror=&#34;alert(1)&#34;&gt;</p>\n", `<img src=x onerror="alert(1)">`},
		"[a](javascript:alert(1))":                 {"<p>a</p>\n", "a"},
		`[a](https://x.test/"onclick="b)`:          {"<p>[a](https://x.test/&#34;onclick=&#34;b)</p>\n", ""},
	} {
		nodes := markdown.Parse(source)
		if want.text == "" { // however the parser takes it, no attribute comes of it
			require.NotContains(t, string(markdown.HTML(nodes)), `"onclick`)
			continue
		}
		require.Equal(t, want.html, string(markdown.HTML(nodes)), source)
		require.Equal(t, want.text, markdown.Text(nodes), source)
	}
}

// Whatever is typed, its HTML has no elements but ours, and no attributes but those of links, cells and lists.
func TestRenderAnything(t *testing.T) {
	t.Parallel()
	ours := regexp.MustCompile(`</?(p|strong|em|s|ul|ol|li|blockquote|pre|code|table|tr|td)>|<(hr|br)>|<ol start="\d+">|<td align="(left|center|right)">|<a href="((https?|mailto):[^"<>]*)" rel="noopener noreferrer nofollow">|</a>`)
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.OneOf(rapid.String(), rapid.StringMatching("([a-c*_`~<>|&;:/\\\\\\[\\]()!#+\"'= \t\n-]|https://|HTTPS://a|javascript:|&amp;|&quot;){0,60}")).Draw(t, "source")
		rest := ours.ReplaceAllString(string(markdown.HTML(markdown.Parse(source))), "")
		require.False(t, strings.ContainsAny(rest, `<>"`), rest)
	})
}
