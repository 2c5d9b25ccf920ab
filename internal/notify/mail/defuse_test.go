package mail

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// Names stay readable and contain nothing that becomes a link.
func TestDefuse(t *testing.T) {
	for in, want := range map[string]string{
		"Ada Lovelace": "Ada Lovelace", "Müller & Söhne GmbH": "Müller & Söhne GmbH", "Acme Inc.": "Acme Inc.", "R&D / Lab 3": "R&D / Lab 3", "A/B": "A/B",
		"https://evil.example/x?y": "https: evil example/x?y", "evil.example": "evil example", "www.evil.example": "www evil example",
		"evil。example": "evil example", "evil．example": "evil example", "ｅｖｉｌ.ｅｘａｍｐｌｅ": "evil example", "a@b.example": "a b example",
		"<a href=//x.y>": "a href= x y", "[click](x.y)": "click (x y)", "javascript:alert": "javascript: alert", "mailto:a@b": "mailto: a b", "ev\u200bil.ex\u00adample": "ev il ex ample",
		"Call +1 (555) 123-4567": "Call +1 (555) 12-", "10.0.0.1": "10 0 0 1", "Bcc: a@b\r\nX: y": "Bcc: a b X: y", "Studio 54": "Studio 54", "пример.рф": "пример рф",
	} {
		assert.Equal(t, want, Line(in, 100), in)
	}
}

var followed = regexp.MustCompile(`(?i)://|//|\S\.\S|\S@\S|[<>\[\]]|[a-z]:\S|(\d[-() /+.]*){7}`)

func TestNothingOfANameIsFollowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"http", "s", ":", "/", "//", ".", "。", "．", "@", "www", "com", "x", " ", "\u200b", "\u00ad", "\r", "\n", "\u2028", "<", ">", "1", "23", "+", "-", "(", "é", "\u0301", "[", "\x00", "\u2024",
		}), 0, 30).Draw(t, "parts")
		line := Line(strings.Join(parts, ""), 100)
		if m := followed.FindString(line); m != "" {
			t.Fatalf("%q in %q", m, line)
		}
		if strings.ContainsAny(line, "\r\n\x00\u2028") {
			t.Fatalf("%q is more than a line", line)
		}
	})
}
