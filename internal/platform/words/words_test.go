package words_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"atrium/internal/platform/words"
)

// finds reports whether what somebody writes into a search box finds a text.
func finds(text, search string) bool {
	var d words.Document
	d.Add(text, 'r')
	q := words.Parse(search)
	for _, t := range q.Not {
		if d.Has('r', t) {
			return false
		}
	}
	for _, t := range q.Terms {
		if !d.Has('r', t) {
			return false
		}
	}
	return !q.Empty()
}

func TestFinds(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ by, not []string }{
		"The laptop for Zoë is BROKEN": {
			by:  []string{"laptop", "LAPTOP broken", "broken laptop", "zoe", "ZOË", "brok", "laptop bro", `"for Zoë"`, `laptop "is broken"`, "laptop -printer", "laptop  ", "la"},
			not: []string{"top", "brok laptop", "laptop printer", `"laptop broken"`, "laptop -broken", `laptop -"for zoe"`, "b", "", "-laptop", "%", "*", `"`, "a AND", "laptopx"},
		},
		"Straße ﬁnden, Ёлка, Σίσυφος, ISTANBUL İzmir": {
			by: []string{"strasse", "STRASSE", "finden", "елка", "ЁЛКА", "σισυφος", "ΣΊΣΥΦΟΣ", "istanbul", "izmir", "İZMİR"},
		},
		"Mail anna.osei@example.com on 2026-11-29 about PROJ-42/b at 10.0.0.1.": {
			by: []string{
				"anna", "osei", "anna.osei@example.com", "ANNA.OSEI@EXAMPLE.COM", "example.com", "osei@exam", "2026-11-29", "29", "2026-11", "proj-42", "PROJ 42", "10.0.0.1", "10.0.0",
				`"on 2026"`, "11-29",
			},
			not: []string{"proj-43", "10.0.1", "anna-example", "2026-29", "20"},
		},
		"印刷機が壊れた。 iPhone手机 สวัสดีครับ 안녕하세요": {
			by:  []string{"印刷", "印刷機", "刷機", "機", "印", "手机", "iphone", "iPhone手机", "สวัสดี", "안녕", `"印刷機"`, "壊れ"},
			not: []string{"印機", "刷印", "機印刷"},
		},
		"don't re-open the e-mail-server": {
			by:  []string{"don't", "DON’T", "e-mail", "mail-server", "e-mail-server", "re-open", `"the e-mail"`, "server mail"},
			not: []string{"dont"},
		},
		"Room 1042, floor 3": {
			by:  []string{"1042", "#1042", "3 room", `"room 1042"`},
			not: []string{"104", "#10"},
		},
		"título: el año": {by: []string{"titulo", "ano", "AÑO"}, not: []string{"title:", "title: año"}},
	} {
		for _, search := range c.by {
			require.True(t, finds(text, search), "%q finds %q", search, text)
			require.True(t, finds(norm.NFD.String(text), norm.NFC.String(search)), "%q finds %q, however they are written", search, text)
		}
		for _, search := range c.not {
			require.False(t, finds(text, search), "%q does not find %q", search, text)
		}
	}
}

// The grammar: what a query comes to.
func TestParse(t *testing.T) {
	t.Parallel()
	for search, want := range map[string]string{
		"":                                  "",
		" \"' -  ":                          "",
		"laptop":                            "laptop*",
		"Laptop  broken":                    "laptop broken*",
		"title:laptop -title:stand":         "title:laptop -title:stand",
		`"two words" three`:                 "[two words] three*",
		`TITLE:"two words"`:                 "title:[two words]",
		`"never closed`:                     "never closed*",
		"anna@example.com":                  "anna-example-com*",
		"a.b.c.d.e":                         "a-b-c-d+b-c-d-e*",
		"a,b;c":                             "a b c",
		"-":                                 "",
		"- laptop":                          "laptop*",
		"one two three four five six 7 8 9": "one two three four five six 7 8",
		strings.Repeat("word ", 200):        "word word word word word word word word",
		"column:x NEAR(a b) a* OR ^b":       "column-x near a b a or b",
		strings.Repeat("x", 200):            strings.Repeat("x", 64) + "*",
	} {
		q := words.Parse(search)
		var got []string
		for i, one := range append(q.Terms, q.Not...) {
			s := strings.Join(one.Tokens, "+")
			if len(one.Phrase) > 0 {
				s = fmt.Sprint(one.Phrase)
			}
			if one.Title {
				s = "title:" + s
			}
			if i >= len(q.Terms) {
				s = "-" + s
			}
			if one.Prefix {
				s += "*"
			}
			got = append(got, s)
		}
		require.Equal(t, want, strings.Join(got, " "), search)
	}
}

// Whatever somebody writes, each word of a text finds it, whole and folded, and a document that was stored finds what the text does.
func TestEveryWordFinds(t *testing.T) {
	t.Parallel()
	alphabet := rapid.SampledFrom([]rune("aAzß1٣İёЁéﬁ印刷カガｶﾞ가ไทยा क्\u0301 .,-@'\"_\n\u00a0"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(alphabet, 0, 60, -1).Draw(t, "text")
		var d words.Document
		d.Add(text, 'r', 't')
		stored := words.Stored(d.String())
		require.Equal(t, d.String(), stored.String())
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,-@'\"_\n\u00a0", r) }) {
			q := words.Parse(word)
			for _, term := range q.Terms {
				require.True(t, d.Has('r', term) && d.Has('t', term), "%q in %q", word, text)
				require.True(t, stored.Has('r', term), "%q in %q, as it is stored", word, text)
				require.False(t, d.Has('c', term), "of another kind")
			}
		}
	})
}

func TestDocumentIsBounded(t *testing.T) {
	t.Parallel()
	var d words.Document
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "word%d ", i)
	}
	d.Add(text.String()+strings.Repeat("字", 100), 'r')
	require.Len(t, strings.Fields(d.String()), 4_000)
}

func BenchmarkDocument(b *testing.B) {
	for name, text := range map[string]string{
		"Latin":    strings.Repeat("The laptop of the sales team does not start. ", 7),
		"Cyrillic": strings.Repeat("Ноутбук отдела продаж не включается. ", 8),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var d words.Document
				d.Add(text, 'r')
				_ = d.String()
			}
		})
	}
}

// An excerpt is a piece of the text around the first word that was found. Marks count characters, not bytes.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	for search, want := range map[string]string{
		"laptop":             "The [laptop] of Zoë Å. is slow, and the [laptop]’s fan…",
		"fan slow":           "…Zoë Å. is [slow], and the laptop’s [fan] is loud. Mail…",
		"zoe":                "…laptop of [Zoë] Å. is slow, and the laptop’s fan is…",
		"anna.osei@exam":     "…loud. Mail [anna.osei@example].com, 印刷機が壊れた",
		"刷機":                 "…印[刷機]が壊れた",
		`"is slow" -nothing`: "…of Zoë Å. [is] [slow], and the laptop’s fan [is] loud.…",
		"printer":            "The laptop of Zoë Å. is slow, and the laptop’s fan…",
	} {
		e := words.Parse(search).Excerpt("The laptop of Zoë Å.\n\n is slow,  and the laptop’s fan is loud. Mail anna.osei@example.com, 印刷機が壊れた", 55)
		runes, out := []rune(e.Text), ""
		last := 0
		for _, m := range e.Marks {
			out += string(runes[last:m.Start]) + "[" + string(runes[m.Start:m.End]) + "]"
			last = m.End
		}
		require.Equal(t, want, out+string(runes[last:]), search)
	}
}

// Whatever the text and the search: marks are in order, apart and inside of the text, and what the search finds has some.
func TestExcerptsOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-dßéП刷機 .@-]{0,60}`)).Draw(t, "text")
		search := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-dßéП刷機 .@"-]{0,12}`)).Draw(t, "search")
		q := words.Parse(search)
		q.Not = nil
		e := q.Excerpt(text, 30)
		require.LessOrEqual(t, len([]rune(e.Text)), 30)
		at := 0
		for _, m := range e.Marks {
			require.True(t, at <= m.Start && m.Start < m.End && m.End <= len([]rune(e.Text)), "%v in %q", e.Marks, e.Text)
			at = m.End
		}
		if len([]rune(text)) < 20 && len(strings.Fields(text)) > 0 && finds(text, search) {
			require.NotEmpty(t, e.Marks, "%q in %q", search, text)
		}
	})
}
