package inmail

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write what comes out as what must come out")

// marker is the line above which the mails of the corpus were asked to be answered.
var markers = []string{"Please answer above this line", "Bitte antworten Sie oberhalb dieser Zeile"}

// Each mail of testdata comes out as the golden beside it says: what was written, what was quoted, attachments and verdicts.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.eml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 60)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".eml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := Parse(raw, Options{Markers: markers})
			got := show(m, err)
			golden := strings.TrimSuffix(file, ".eml") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			holds(t, m)

			unix, err := Parse([]byte(strings.ReplaceAll(string(raw), "\r\n", "\n")), Options{Markers: markers})
			if err == nil && !strings.Contains(string(raw), "Content-Transfer-Encoding: binary") {
				require.Equal(t, m.Text, unix.Text, "line ends make no difference")
				require.Equal(t, m.Quoted, unix.Quoted)
				require.Len(t, unix.Attachments, len(m.Attachments))
			}
		})
	}
}

// show writes a message down for people. What is empty is left out.
func show(m *Message, err error) string {
	var b strings.Builder
	say := func(name string, value any) {
		if s := fmt.Sprint(value); s != "" && s != "[]" && s != "false" {
			fmt.Fprintf(&b, "%s: %s\n", name, s)
		}
	}
	if err != nil {
		say("Error", err)
	}
	say("From", strings.TrimSpace(m.From.Name+" "+m.From.Email))
	for name, list := range map[string][]Address{"To": m.To} {
		if len(list) > 5 {
			say(name, fmt.Sprintf("%d addresses", len(list)))
		} else {
			for _, a := range list {
				say(name, strings.TrimSpace(a.Name+" "+a.Email))
			}
		}
	}
	for _, a := range m.Cc {
		say("Cc", strings.TrimSpace(a.Name+" "+a.Email))
	}
	say("Delivered to", strings.Join(m.DeliveredTo, " "))
	say("Return path", m.ReturnPath)
	say("Subject", m.Subject)
	say("Reply", m.Reply)
	say("Forward", m.Forward)
	if !m.Date.IsZero() {
		say("Date", m.Date.Format("2006-01-02 15:04:05"))
	}
	say("ID", m.ID)
	say("In reply to", strings.Join(m.InReplyTo, " "))
	say("References", strings.Join(m.References, " "))
	say("Automatic", m.Automatic)
	if m.Bounce != nil {
		fmt.Fprintf(&b, "Bounce: %+v\n", *m.Bounce)
	}
	say("Notes", m.Notes)
	for _, a := range m.Attachments {
		fmt.Fprintf(&b, "Attachment: %q %s, %d bytes, %.4x", a.Name, a.MediaType, len(a.Content), sha256.Sum256(a.Content))
		if a.ContentID != "" {
			b.WriteString(", cid " + a.ContentID)
		}
		if a.Inline {
			b.WriteString(", inline")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n=== Text\n%s\n", m.Text)
	if m.Quoted != "" {
		fmt.Fprintf(&b, "\n=== Quoted\n%s\n", m.Quoted)
	}
	return b.String()
}

// holds checks what is true of every message.
func holds(t *testing.T, m *Message) {
	t.Helper()
	for _, s := range []string{m.ID, m.From.Name, m.From.Email, m.Subject, m.Text, m.Quoted, m.Whole} {
		require.True(t, utf8.ValidString(s))
		require.False(t, strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }), "%q", s)
	}
	require.False(t, strings.ContainsAny(m.Subject+m.ID+m.From.Email+m.From.Name, "\n"))
	require.LessOrEqual(t, len(m.Whole), 3*MaxText)
	for _, a := range m.Attachments {
		require.NotEmpty(t, a.Name)
		require.False(t, strings.ContainsAny(a.Name, "/\\\n\x00"), "%q", a.Name)
	}
	// Nothing is only cut: each line of the whole stands in what was written or in what was quoted.
	has := map[string]bool{}
	for _, part := range []string{m.Text, m.Quoted} {
		for l := range strings.SplitSeq(part, "\n") {
			has[l] = true
		}
	}
	for l := range strings.SplitSeq(m.Whole, "\n") {
		require.True(t, l == "" || has[l], "%q was cut", l)
	}
}
