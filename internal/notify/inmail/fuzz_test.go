package inmail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse: whatever the bytes, something comes out that keeps the promises of Message.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.eml")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, _ := Parse(raw, Options{Markers: markers})
		holds(t, m)
	})
}

// FuzzPage: HTML comes out as text, whatever is left open or nested.
func FuzzPage(f *testing.F) {
	for _, s := range []string{
		"<div class=gmail_quote><blockquote>a</blockquote>b</div>", "<table><tr><td><p>a<td>b<table><tr><td>c", "<pre>a\n\n b</pre>",
		"<a href=http://x>y<div>z</a>",
		"<ol><li>a<ul><li>b", "<div id=appendonsend><hr><p>x", "</p></div></x>", "<script>a</script", "<textarea>",
		"<blockquote type=cite>", "<svg><title>", "<!--", "<img alt='a\nb'>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := &Message{}
		c, _ := readPage(clean(strings.ToValidUTF8(s, "?"), m.note))
		m.divide(c.lines, Options{Markers: markers})
		holds(t, m)
	})
}

// The corpus with random damage keeps the promises too: the normal run tries what a fuzzer would find first.
func TestDamaged(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.eml")
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if len(raw) > 20_000 {
			continue
		}
		for range 10 {
			damaged := bytes.Clone(raw)
			for range 1 + random.IntN(5) {
				at := random.IntN(len(damaged))
				switch random.IntN(3) {
				case 0:
					damaged[at] = byte(random.IntN(256))
				case 1:
					damaged = append(damaged[:at], damaged[min(len(damaged), at+random.IntN(50)):]...)
				default:
					damaged = append(damaged[:at], append(bytes.Clone(raw[random.IntN(len(raw)):]), damaged[at:]...)...)
				}
				if len(damaged) == 0 {
					break
				}
			}
			m, _ := Parse(damaged, Options{Markers: markers})
			holds(t, m)
		}
	}
}

// What exceeds a bound is refused by an error that says which; the header is known all the same.
func TestLimits(t *testing.T) {
	t.Parallel()
	head := "From: ada@acme.test\r\nSubject: Big\r\n"
	for limit, raw := range map[Limit]string{
		LimitSize:   head + "\r\n" + strings.Repeat("x\r\n", MaxSize/3),
		LimitHeader: head + "X: " + strings.Repeat("y", MaxHeader) + "\r\n\r\n",
		LimitDepth:  head + nested(MaxDepth+1),
		LimitParts:  head + "Content-Type: multipart/mixed; boundary=b\r\n" + strings.Repeat("\r\n--b\r\n\r\nx", MaxParts) + "\r\n--b--\r\n",
	} {
		m, err := Parse([]byte(raw), Options{})
		var exceeded *LimitError
		require.ErrorAs(t, err, &exceeded, limit)
		require.Equal(t, limit, exceeded.Limit)
		require.False(t, exceeded.Text().Empty())
		if limit != LimitHeader {
			require.Equal(t, "ada@acme.test", m.From.Email)
			require.Equal(t, "Big", m.Subject)
		}
		require.Empty(t, m.Attachments)
	}
	for name, raw := range map[string]string{
		"20 deep":   head + nested(MaxDepth),
		"200 parts": head + "Content-Type: multipart/mixed; boundary=b\r\n" + strings.Repeat("\r\n--b\r\n\r\nx", MaxParts-1) + "\r\n--b--\r\n",
	} {
		_, err := Parse([]byte(raw), Options{})
		require.NoError(t, err, name)
	}
	long, err := Parse([]byte(head+"\r\n"+strings.Repeat("line of a log\r\n", 100_000)), Options{})
	require.NoError(t, err)
	require.Empty(t, long.Text)
	require.Equal(t, []Note{NoteLong}, long.Notes)
	require.Len(t, long.Attachments, 1, "a text that is too long is a file")
	require.Len(t, long.Attachments[0].Content, 1_500_000)
}

// nested returns a mail of multiparts within each other, none of which ends: the input that takes other libraries minutes.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	return b.String() + "\r\ntext"
}

// The sender of the envelope counts instead of Return-Path, and the null sender is a machine's.
func TestEnvelopeSender(t *testing.T) {
	t.Parallel()
	raw := []byte("Return-Path: <forged@acme.test>\nFrom: ada@acme.test\n\nHello\n")
	none, other := "", "ada@acme.test"
	m, err := Parse(raw, Options{Sender: &none})
	require.NoError(t, err)
	require.Equal(t, AutoNull, m.Automatic)
	m, err = Parse(raw, Options{Sender: &other})
	require.NoError(t, err)
	require.Empty(t, m.Automatic)
	require.Equal(t, other, m.ReturnPath)
}

// Each reason and each note has words for staff.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, a := range []Automatic{AutoReport, AutoSubmitted, AutoNull, AutoDaemon, AutoList, AutoBulk, AutoReply, AutoSubject} {
		require.False(t, a.Text().Empty(), a)
	}
	for _, n := range []Note{
		NoteCharset, NoteEncoding, NoteHeader, NoteControl, NoteUnclosed, NoteLong, NoteEncrypted, NoteSigned, NoteTNEF, NoteNoFrom, NoteManyFroms,
	} {
		require.False(t, n.Text().Empty(), n)
	}
}

// hostile are mails of n bytes, or less, that try to cost more than their size.
func hostile(n int) map[string]string {
	head := "From: ada@acme.test\r\nSubject: Re: x\r\n"
	html := head + "Content-Type: text/html\r\n\r\n"
	fill := func(prefix, s string) string { return prefix + strings.Repeat(s, (n-len(prefix))/len(s)) }
	boundaries := nested(MaxDepth)
	return map[string]string{
		"boundaries almost":  fill(head+boundaries+"\r\n", "--b1x\r\n"),
		"introductions":      fill(head+"\r\n", "on 1@a wrote:\n"),
		"headers of a mail":  fill(head+"\r\n", "From: x\n"),
		"quotes":             fill(head+"\r\n", "> a\nb\n"),
		"open elements":      fill(html, "<div>"),
		"open links":         fill(html, "<a href=http://x.test>y"),
		"closed only":        fill(html, "</div></p></td>"),
		"blockquotes":        fill(html, "<blockquote>a<br>"),
		"cells":              fill(html, "<table><tr><td>a<td>b"),
		"attributes":         fill(html+"<div ", "a=b "),
		"lists":              fill(html, "<ol><li>"),
		"encoded words":      "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 4000) + "\r\n\r\n",
		"addresses":          "To: " + strings.Repeat("a@b,", 15000) + "\r\n\r\n",
		"broken addresses":   "To: " + strings.Repeat("<<a@b>;", 9000) + "\r\n\r\n",
		"padding in base64":  fill(head+"Content-Transfer-Encoding: base64\r\nContent-Type: application/x\r\n\r\n", "QQ=="),
		"soft line ends":     fill(head+"Content-Transfer-Encoding: quoted-printable\r\n\r\n", "=\r\n"),
		"flowed":             fill(head+"Content-Type: text/plain; format=flowed\r\n\r\n", "a \r\n"),
		"indefinite lengths": head + "Content-Type: application/pkcs7-mime; smime-type=signed-data\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x30, 0x80}, n*3/8)),
		"fields of a report": head + "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" + strings.Repeat("Action: failed\r\n\r\n", n/20),
	}
}

// A mail that tries to cost more than its size comes out like any other.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, raw := range hostile(1 << 17) {
		m, err := Parse([]byte(raw), Options{Markers: markers})
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(m.Whole), 3*MaxText, name)
	}
}

func BenchmarkParse(b *testing.B) {
	usual := "From: ada@acme.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n" +
		strings.Repeat("<p>Some words of a paragraph, as people write them.</p>\r\n", 1000) +
		"\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + strings.Repeat(strings.Repeat("ABCD", 19)+"\r\n", 12500) + "--b--\r\n"
	cases := hostile(1 << 20)
	cases["a usual mail of 1 MB"] = usual
	for name, raw := range cases {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Parse([]byte(raw), Options{Markers: markers})
			}
		})
	}
}
