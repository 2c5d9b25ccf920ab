package mail

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const link = "https://atrium.test/reset?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func newFolder(t *testing.T) *folder {
	t.Helper()
	s, err := Open(Options{Dir: filepath.Join(t.TempDir(), "outbox"), From: "Átrium <no-reply@x.test>"})
	require.NoError(t, err)
	return s.(*folder)
}

// The file is a mail that any program can read. It is private, and its link is whole and on its own line.
func TestFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for id, text := range map[string]string{"msg_1": "Hello\n\n" + link + "\n", "msg_2": "Grüße, Zoë: 1=1\n\n" + link + "\n"} {
		e := &envelope{ID: id, At: at, Message: Message{To: "ada@x.test", Subject: "Grüße = Hello", Text: text}}
		require.NoError(t, f.send(t.Context(), e))
		path := filepath.Join(f.dir, id+".eml")
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(raw), "\r\n"+link+"\r\n")
		m, err := mail.ReadMessage(strings.NewReader(string(raw)))
		require.NoError(t, err)
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		require.NoError(t, err)
		require.Equal(t, "Grüße = Hello", subject)
		to, err := m.Header.AddressList("To")
		require.NoError(t, err)
		require.Equal(t, "ada@x.test", to[0].Address)
		require.Equal(t, "<"+id+"@x.test>", m.Header.Get("Message-ID"))
		require.Equal(t, "auto-generated", m.Header.Get("Auto-Submitted"))
		date, err := m.Header.Date()
		require.NoError(t, err)
		require.True(t, at.Equal(date))
		body, err := io.ReadAll(m.Body)
		require.NoError(t, err)
		require.Equal(t, text, strings.ReplaceAll(strings.TrimRight(string(body), "\r\n")+"\n", "\r\n", "\n"))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	info, err := os.Stat(f.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// With HTML, the plain text is the first alternative, unchanged.
func TestAlternative(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	e := &envelope{ID: "msg_1", Message: Message{To: "ada@x.test", Subject: "S", Text: link + "\n", HTML: `<a href="` + link + `">Zoë</a>`}}
	require.NoError(t, f.send(t.Context(), e))
	file, err := os.Open(filepath.Join(f.dir, "msg_1.eml"))
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	m, err := mail.ReadMessage(file)
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, want := range []string{link, e.HTML} {
		p, err := parts.NextPart()
		require.NoError(t, err)
		body, err := io.ReadAll(p)
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(string(body)))
	}
}

// Sending again writes the same file again. The folder stays within its limit and contains no half-written file.
func TestFolderIsBounded(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	e := &envelope{Message: Message{To: "ada@x.test", Subject: "S", Text: "T\n"}}
	require.NoError(t, os.MkdirAll(f.dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "kept.txt"), nil, 0o600))
	for i := range maxFiles {
		require.NoError(t, os.WriteFile(filepath.Join(f.dir, fmt.Sprintf("msg_%04d.eml", i)), nil, 0o600))
	}
	for _, id := range []string{"msg_2000", "msg_2000", "msg_2001"} {
		e.ID = id
		require.NoError(t, f.send(t.Context(), e))
	}
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	require.Len(t, entries, maxFiles+1)
	require.Equal(t, "kept.txt", entries[0].Name())
	require.Equal(t, "msg_0002.eml", entries[1].Name())
	require.Equal(t, "msg_2001.eml", entries[maxFiles].Name())
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(t.TempDir(), "outbox")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	s, err := Open(Options{Dir: blocked})
	require.NoError(t, err)
	require.Error(t, s.send(t.Context(), &envelope{ID: "msg_1", Message: Message{To: "ada@x.test", Subject: "S", Text: "T\n"}}))
}
