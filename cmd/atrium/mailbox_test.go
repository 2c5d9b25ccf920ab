package main_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/mail"
	"net/smtp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// written returns a message that a mail server, mx.demo.example, vouches for.
func written(from, to, id, subject, more, body string) string {
	return "Authentication-Results: mx.demo.example; dmarc=pass header.from=demo.example\r\nFrom: " + from + "\r\nTo: " + to + "\r\nMessage-ID: <" + id + ">\r\nSubject: " + subject +
		"\r\nDate: Mon, 30 Nov 2026 10:00:00 +0000\r\n" + more + "\r\n" + body + "\r\n"
}

// sendMail sends a message by SMTP with STARTTLS.
func sendMail(t testing.TB, at, from, to, message string) {
	t.Helper()
	c, err := smtp.Dial(at)
	require.NoError(t, err)
	defer c.Close() //nolint:errcheck // quit or not
	require.NoError(t, c.StartTLS(&tls.Config{InsecureSkipVerify: true}))
	require.NoError(t, c.Mail(from))
	require.NoError(t, c.Rcpt(to))
	w, err := c.Data()
	require.NoError(t, err)
	_, err = w.Write([]byte(message))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, c.Quit())
}

// mailed waits for the mail to an address whose text has these words, in the outbox of files.
func (p place) mailed(to, words string) *mail.Message {
	p.t.Helper()
	var found *mail.Message
	require.Eventually(p.t, func() bool {
		names, err := filepath.Glob(filepath.Join(p.data, "outbox", "*.eml"))
		require.NoError(p.t, err)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(raw, []byte(words)) {
				continue
			}
			m, err := mail.ReadMessage(bytes.NewReader(raw))
			if err == nil && strings.Contains(m.Header.Get("To"), to) {
				found = m
				return true
			}
		}
		return false
	}, patience, 10*time.Millisecond, "no mail to %s that says %q", to, words)
	return found
}

// Somebody who never sees the console asks by mail, is answered by mail, answers with a quotation, and opens the completed request again.
// The server is killed each time it has taken a mail.
func TestMailBothWays(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		flags := []string{"--listen", freeAddress(t), "--smtp-listen", "127.0.0.1:0", "--mail-domain", "mail.demo.example", "--dev-clock"}
		n := p.serve(flags...)
		first := p.firstRun()
		owner := p.token(first.Company.ID, first.Owner.Email)
		c := p.client()
		p.object("user", "invite", "--company", first.Company.ID, "--email", "ada@demo.example", "--role", "member")
		made := n.graphQL(owner, `mutation ($o: ID!) { createMailbox(input: {address: "desk@demo.example", offeringId: $o, authservId: "mx.demo.example"}) { mailbox { id receivesAt } } }`,
			map[string]any{"o": n.offeringNamed(c, first, "Access to a system")})
		box := made["createMailbox"].(map[string]any)["mailbox"].(map[string]any)["receivesAt"].(string)
		require.Equal(t, "desk.demo-company@mail.demo.example", box)
		bring := func(to, message string) {
			t.Helper()
			sendMail(t, strings.TrimPrefix(n.await("smtp "), "smtp "), "ada@demo.example", to, message)
			n.kill()
			n = p.serve(flags...)
			c = p.client()
		}
		bring(box, written("Ada Osei <ada@demo.example>", "desk@demo.example", "1@x", "The samovar is on fire", "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n",
			"--b\r\nContent-Type: text/plain\r\n\r\nPlease come.\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=log.txt\r\n\r\nSmoke.\r\n--b--"))
		receipt := p.mailed("ada@demo.example", "We have received your request")
		require.Contains(t, receipt.Header.Get("Subject"), "The samovar is on fire")
		answers := receipt.Header.Get("Reply-To")
		require.Regexp(t, `^<desk\.demo-company\+[a-z2-7]{20}@mail\.demo\.example>$`, answers)
		list := n.call(c, 200, "GET", "/v1/requests?q=samovar", first.LiveKey, "")
		require.Len(t, rowsOf(list.body), 1)
		id := rowsOf(list.body)[0]["id"].(string)
		require.Contains(t, n.call(c, 200, "GET", "/v1/requests/"+id+"/attachments", first.LiveKey, "").body, `"log.txt"`)

		n.graphQL(owner, `mutation ($r: ID!) { createComment(input: {requestId: $r, body: "Is anybody hurt?"}) { comment { id } } }`, map[string]any{"r": id})
		n.advance(gathered)
		asked := p.mailed("ada@demo.example", "Is anybody hurt?")
		require.Equal(t, answers, asked.Header.Get("Reply-To"))
		bring(strings.Trim(answers, "<>"), written("Ada Osei <ada@demo.example>", strings.Trim(answers, "<>"), "2@x", "Re: "+asked.Header.Get("Subject"), "References: "+asked.Header.Get("References")+"\r\n",
			"Nobody is.\r\n\r\nOn Mon, 30 Nov 2026 at 10:00, The desk <help@acme.test> wrote:\r\n> — Please write your answer above this line —\r\n> Is anybody hurt?"))
		comments := func(want int) (out []any) {
			t.Helper()
			require.Eventually(t, func() bool {
				out, _ = n.graphQL(owner, `query ($r: ID!) { request(id: $r) { comments(first: 10) { edges { node { body via quoted } } } } }`, map[string]any{"r": id})["request"].(map[string]any)["comments"].(map[string]any)["edges"].([]any)
				return len(out) == want
			}, patience, time.Second) // the owner may make 120 calls a minute
			return out
		}
		var said map[string]any
		for _, edge := range comments(2) {
			if c := edge.(map[string]any)["node"].(map[string]any); c["via"] != nil {
				said = c
			}
		}
		require.Equal(t, []any{"Nobody is.", "mail"}, []any{said["body"], said["via"]})
		require.Contains(t, said["quoted"], "> Is anybody hurt?")

		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			n.call(c, 200, "PATCH", "/v1/requests/"+id, first.LiveKey, `{"status":"`+status+`"}`)
		}
		file := filepath.Join(t.TempDir(), "again.eml")
		require.NoError(t, os.WriteFile(file, []byte(written("ada@demo.example", strings.Trim(answers, "<>"), "3@x", "Again", "", "It burns again.")), 0o600))
		require.Contains(t, p.ok("mail", "deliver", file, "--vouch"), "kept as eml_")
		comments(3)
		require.Contains(t, n.call(c, 200, "GET", "/v1/requests/"+id, first.LiveKey, "").body, `"status":"IN_PROGRESS"`)

		n.hook(c, owner, n.offeringNamed(c, first, "Access to a system"))
	})
}

// rowsOf returns the rows of a list's answer.
func rowsOf(body string) []map[string]any {
	var list struct{ Data []map[string]any }
	if json.Unmarshal([]byte(body), &list) != nil {
		return nil
	}
	return list.Data
}

// offeringNamed returns the id of an offering of the demo company.
func (n *node) offeringNamed(c *http.Client, first firstRun, name string) string {
	n.t.Helper()
	for _, service := range rowsOf(n.call(c, 200, "GET", "/v1/services?pageSize=100", first.LiveKey, "").body) {
		for _, o := range rowsOf(n.call(c, 200, "GET", "/v1/services/"+service["id"].(string)+"/offerings?pageSize=100", first.LiveKey, "").body) {
			if o["name"] == name {
				return o["id"].(string)
			}
		}
	}
	require.Fail(n.t, "no offering named "+name)
	return ""
}

// hook has a mail provider bring messages in each of the ways that providers have. Whoever has not the password brings nothing.
func (n *node) hook(c *http.Client, owner, offering string) {
	n.t.Helper()
	made := n.graphQL(owner, `mutation ($o: ID!) { createMailbox(input: {address: "hook@demo.example", kind: webhook, offeringId: $o, authservId: "mx.demo.example"}) { mailbox { id url } password } }`,
		map[string]any{"o": offering})["createMailbox"].(map[string]any)
	path := strings.TrimPrefix(made["mailbox"].(map[string]any)["url"].(string), n.base)
	basic := func(password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("mail:"+password))
	}
	message := func(id string) string {
		return written("ada@demo.example", "hook@demo.example", id, "By a provider", "", "Hello.")
	}
	form := "--f\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nhook@demo.example\r\n--f\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\n" + message("form@x") + "\r\n--f--\r\n"
	for _, call := range []struct {
		kind, body, password string
		status               int
	}{
		{"message/rfc822", message("raw@x"), made["password"].(string), 202},
		{"application/x-www-form-urlencoded", "recipient=hook%40demo.example&body-mime=" + strings.NewReplacer("\r", "%0D", "\n", "%0A", " ", "+", "@", "%40", "=", "%3D", ";", "%3B").Replace(message("urlencoded@x")), made["password"].(string), 202},
		{"multipart/form-data; boundary=f", form, made["password"].(string), 202},
		{"application/json", `{"RawEmail": ` + strconv.Quote(message("json@x")) + `}`, made["password"].(string), 202},
		{"application/json", `{"TextBody": "Hello."}`, made["password"].(string), 400},
		{"message/rfc822", message("wrong@x"), "wrong", 401},
		{"message/rfc822", message("wrong@x"), "", 401},
	} {
		n.call(c, call.status, "POST", path, "", call.body, "Content-Type", call.kind, "Authorization", basic(call.password))
	}
	n.call(c, 401, "POST", "/v1/webhooks/mail/mbx_01k9ye4ryzf7stj6dqnm8x2v3b", "", message("none@x"), "Content-Type", "message/rfc822", "Authorization", basic("x"))
	require.Eventually(n.t, func() bool {
		list := n.graphQL(owner, `{ inboundMails(first: 100) { edges { node { messageId outcome } } } }`, nil)["inboundMails"].(map[string]any)["edges"].([]any)
		filed := 0
		for _, edge := range list {
			m := edge.(map[string]any)["node"].(map[string]any)
			if id, _ := m["messageId"].(string); len(id) > len("1@x") && m["outcome"] == "REQUEST" {
				filed++
			}
		}
		return filed == 4
	}, patience, time.Second)
}
