package mail

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
)

// A letter says what it is about, what happened and in whose words, and where to go, as text and as HTML in which nothing is markup
// that people wrote.
func TestLetter(t *testing.T) {
	t.Parallel()
	l := Letter{
		Title: "#7 A <i>laptop</i>", Events: []op.Happening{{Paragraphs: []string{"Ada answered your request."}, Quote: "Is it <script>slow</script>?\nSince when?"}},
		Link: "https://desk.test/app/requests/req_1", Unsubscribe: "https://desk.test/notifications/unsubscribe?token=t",
	}
	require.Equal(t, `#7 A <i>laptop</i>

Ada answered your request.

> Is it <script>slow</script>?
> Since when?

Open it in Atrium:
https://desk.test/app/requests/req_1

`+"-- "+`
Atrium
No more mails of this kind:
https://desk.test/notifications/unsubscribe?token=t
`, l.Text())
	html, err := l.HTML()
	require.NoError(t, err)
	require.Contains(t, html, "Is it &lt;script&gt;slow&lt;/script&gt;?<br>\nSince when?")
	require.Contains(t, html, `<a class="open" href="https://desk.test/app/requests/req_1">`)
	require.NotContains(t, html, "<i>")
	require.NotContains(t, html, "<img")
	require.NoError(t, (&Message{To: "a@b.test", Subject: "s", Text: l.Text(), HTML: html}).check())
}

// What people wrote in Markdown is shown as it reads: as elements that hold no markup of theirs, and as plain text. It loads nothing.
func TestLetterInMarkdown(t *testing.T) {
	t.Parallel()
	l := Letter{Events: []op.Happening{{Markdown: true, Quote: "It is **slow**:\n- see [the plan](https://x.test/a?b=1)\n- ![](https://x.test/pixel.gif)\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))"}}}
	require.Contains(t, l.Text(), "> It is slow:\n> \n> - see the plan (https://x.test/a?b=1)\n> - https://x.test/pixel.gif\n> \n> <script>alert(1)</script>\n> \n> x\n")
	html, err := l.HTML()
	require.NoError(t, err)
	require.Contains(t, html, `<p>It is <strong>slow</strong>:</p>`)
	require.Contains(t, html, `<li>see <a href="https://x.test/a?b=1" rel="noopener noreferrer nofollow">the plan</a></li>`)
	require.Contains(t, html, "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>")
	for _, never := range []string{"<img", "<script", `href="javascript`} {
		require.NotContains(t, html, never)
	}
}

// Marks that would make a mail too long are shown as they were typed.
func TestLetterOfManyMarks(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"*a*", "> > > > > > > > a\nb\nb\nb\nb\nb\nb\nb\nb\n\n", "|a|b|\n|:-:|:-:|\n|a|b|\n|a|b|\n\n", "- - - - - a\n", "https://a ", "- [ ] a\n"} {
		said := Quote(strings.Repeat(piece, 4000/len(piece)), 4000)
		l := Letter{Events: []op.Happening{{Quote: said, Markdown: true}, {Quote: said, Markdown: true}}}
		html, err := l.HTML()
		require.NoError(t, err)
		require.NoError(t, (&Message{To: "a@b.test", Subject: "s", Text: l.Text(), HTML: html}).check(), "%.20q", said)
	}
}

// A letter that asks for a decision has a link for each way to decide, which leads to the page and decides nothing.
func TestLetterOfADecision(t *testing.T) {
	t.Parallel()
	l := Letter{Events: []op.Happening{{Paragraphs: []string{"The workflow waits for your decision."}}}, Link: "https://desk.test/app/requests/req_1", Decide: true, Unsubscribe: "https://desk.test/u"}
	require.Contains(t, l.Text(), `
Approve:
https://desk.test/app/requests/req_1?decide=approve

Reject:
https://desk.test/app/requests/req_1?decide=reject
`)
	html, err := l.HTML()
	require.NoError(t, err)
	require.Contains(t, html, `<a class="open" href="https://desk.test/app/requests/req_1?decide=approve">Approve</a>`)
	require.Contains(t, html, `href="https://desk.test/app/requests/req_1?decide=reject">Reject</a>`)
	require.NotContains(t, html, "Open in Atrium")
}

// What a letter adds is in the language of its texts.
func TestLetterInGerman(t *testing.T) {
	t.Parallel()
	l := Letter{Language: "de", Events: []op.Happening{{Paragraphs: []string{"Ada hat auf Ihre Anfrage geantwortet."}}}, Link: "https://desk.test/app", Unsubscribe: "https://desk.test/u"}
	require.Equal(t, `Ada hat auf Ihre Anfrage geantwortet.

In Atrium öffnen:
https://desk.test/app

`+"-- "+`
Atrium
Keine E-Mails dieser Art mehr:
https://desk.test/u
`, l.Text())
	html, err := l.HTML()
	require.NoError(t, err)
	for _, text := range []string{`<html lang="de">`, ">In Atrium öffnen</a>", "Gesendet von Atrium.", ">Keine E-Mails dieser Art mehr senden</a>"} {
		require.Contains(t, html, text)
	}
}

// Whatever people write makes a mail that can be sent.
func TestLetterOfAnyText(t *testing.T) {
	t.Parallel()
	for _, said := range []string{strings.Repeat("終", 4000), strings.Repeat("word ", 2000), strings.Repeat("x", 9000), "a\r\nb\x00\x1b[31m\u202ec\n\n\n\n\td", "\n \n"} {
		l := Letter{Events: []op.Happening{{Paragraphs: []string{Plain(said, 500)}, Quote: Quote(said, 4000)}}}
		html, err := l.HTML()
		require.NoError(t, err)
		require.NoError(t, (&Message{To: "a@b.test", Subject: "s", Text: l.Text(), HTML: html}).check(), "%.20q", said)
		require.True(t, utf8.ValidString(l.Text()))
	}
	require.Equal(t, "a\nb[31mc\n\n d", Quote("a\r\nb\x00\x1b[31m\u202ec\n\n\n\n\td\n", 100))
	require.Equal(t, "Ein lan…", Quote("Ein langer Text", 8))
}
