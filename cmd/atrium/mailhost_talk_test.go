package main_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The files of a message: text with a name beyond ASCII, and bytes that no line ends.
var (
	smokeText  = strings.Repeat("Rauch über dem Samowar.\r\n", 200)
	smokeImage = bytes.Repeat([]byte("\x89PNG\r\n\x1a\n\x00\xff"), 3000)
)

// entry is one part of a MIME message.
type entry struct {
	kind, disposition string // the fields Content-Type and Content-Disposition
	body              []byte
}

// mimeMessage writes a message as mail programs do: a header, and parts in base64 or, for text, quoted-printable.
func mimeMessage(header []string, kind string, parts ...entry) string {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		field := textproto.MIMEHeader{"Content-Type": {p.kind}}
		if p.disposition != "" {
			field.Set("Content-Disposition", p.disposition)
			field.Set("Content-Transfer-Encoding", "base64")
		} else {
			field.Set("Content-Transfer-Encoding", "quoted-printable")
		}
		part, _ := w.CreatePart(field) // bytes.Buffer does not fail
		if p.disposition == "" {
			text := quotedprintable.NewWriter(part)
			_, _ = text.Write(p.body)
			_ = text.Close()
			continue
		}
		coded := base64.StdEncoding.EncodeToString(p.body)
		for len(coded) > 76 {
			_, _ = fmt.Fprintf(part, "%s\r\n", coded[:76])
			coded = coded[76:]
		}
		_, _ = fmt.Fprintf(part, "%s\r\n", coded)
	}
	_ = w.Close()
	header = append(header, "Date: "+time.Now().Format(time.RFC1123Z), "MIME-Version: 1.0", "Content-Type: "+kind+`; boundary="`+w.Boundary()+`"`)
	return strings.Join(header, "\r\n") + "\r\n\r\n" + body.String()
}

// withFiles writes a new message with two files.
func withFiles(from, to, id, subject, text string) string {
	return mimeMessage([]string{"From: " + from, "To: " + to, "Subject: " + mime.QEncoding.Encode("utf-8", subject), "Message-ID: <" + id + ">"}, "multipart/mixed",
		entry{kind: "text/plain; charset=utf-8", body: []byte(text)},
		entry{"text/plain; charset=utf-8", "attachment; filename*=UTF-8''Rauch%20%C3%BCber.txt", []byte(smokeText)},
		entry{"image/png", `attachment; filename="samovar.png"`, smokeImage})
}

// gmailReply answers a letter as Gmail does: the text and its HTML, each above all that the letter said.
func gmailReply(to letter, from, id, text string) string {
	author := to.Header.Get("From")
	quoted := "> " + strings.ReplaceAll(strings.TrimSpace(to.plain), "\n", "\r\n> ")
	plain := text + "\r\n\r\nOn Mon, Nov 30, 2026 at 10:02 AM " + author + "\r\nwrote:\r\n\r\n" + quoted + "\r\n"
	_, body, _ := strings.Cut(to.html, "<body")
	_, body, _ = strings.Cut(body, ">")
	body, _, _ = strings.Cut(body, "</body>")
	page := `<div dir="ltr">` + strings.ReplaceAll(html.EscapeString(text), "\r\n", "<br>") + `</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Mon, Nov 30, 2026 at 10:02 AM ` +
		html.EscapeString(author) + ` wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">` + body + `</blockquote></div>`
	return mimeMessage([]string{
		"References: " + to.Header.Get("References") + " " + to.Header.Get("Message-ID"), "In-Reply-To: " + to.Header.Get("Message-ID"),
		"From: " + from, "To: " + author + ", " + to.Header.Get("Reply-To"), "Subject: Re: " + to.Header.Get("Subject"), "Message-ID: <" + id + ">",
	}, "multipart/alternative", entry{kind: `text/plain; charset="UTF-8"`, body: []byte(plain)}, entry{kind: `text/html; charset="UTF-8"`, body: []byte(page)})
}

// dkimKey writes a key that mails are signed with.
func dkimKey(t testing.TB) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "dkim.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return file
}

// desk is a server beside a mail host, as its owner works with it.
type desk struct {
	*node
	host  *mailHost
	http  *http.Client
	owner string // token
	last  string // id of the last request
}

// verifyDKIM has another implementation of DKIM verify a letter, with the record that the server has told its operator to publish.
func (d *desk) verifyDKIM(l letter) {
	d.t.Helper()
	var record struct{ Name, Text string }
	for line := range strings.Lines(d.err.String()) {
		if strings.Contains(line, "DNS must have this TXT record") {
			require.NoError(d.t, json.Unmarshal([]byte(line), &record))
		}
	}
	verified := func(raw []byte) string {
		d.t.Helper()
		cmd := exec.Command("/usr/bin/python3", "testdata/mail/verify.py", record.Name, record.Text)
		cmd.Stdin = bytes.NewReader(raw)
		out, err := cmd.CombinedOutput()
		require.NoError(d.t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	require.Equal(d.t, "True", verified(l.raw))
	changed := bytes.Replace(l.raw, []byte("\nSubject: "), []byte("\nSubject: Urgent: "), 1)
	require.NotEqual(d.t, l.raw, changed)
	require.Equal(d.t, "False", verified(changed))
}

// outcomes returns what became of messages, by their Message-ID, with the reason.
func (d *desk) outcomes() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	edges := d.graphQL(d.owner, `{ inboundMails(first: 100) { edges { node { messageId outcome reason } } } }`, nil)["inboundMails"].(map[string]any)["edges"].([]any)
	for _, edge := range edges {
		m := edge.(map[string]any)["node"].(map[string]any)
		id, _ := m["messageId"].(string)
		reason, _ := m["reason"].(string)
		out[id] = strings.TrimSpace(out[id] + " " + m["outcome"].(string) + " " + reason)
	}
	return out
}

// became waits until a message has an outcome, fetching mail meanwhile, and requires that it begins so.
func (d *desk) became(id, outcome string) {
	d.t.Helper()
	var is string
	require.Eventually(d.t, func() bool {
		is = d.outcomes()[id]
		return is != "" && !strings.HasPrefix(is, "RECEIVED")
	}, patience, 100*time.Millisecond, "%s has no outcome", id)
	require.True(d.t, strings.HasPrefix(is, outcome), "%s: %s", id, is)
}

// comments returns the comments of a request, the oldest first.
func (d *desk) comments(id string) []map[string]any {
	d.t.Helper()
	return rowsOf(d.call(d.http, 200, "GET", "/v1/requests/"+id+"/comments?pageSize=100", d.owner, "").body)
}
