package main_test

import (
	"net/smtp"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gathered is longer than what happens after a mail about a request waits for the next one.
const gathered = "2m5s"

// Somebody who never sees the console works with the desk by mail alone, through the mail servers that people have: what they send comes by
// SMTP to one mailbox, and is fetched by IMAP from another. They and both mailboxes are away, and answered for automatically.
func TestMailByRealServers(t *testing.T) {
	t.Parallel()
	listener := freeAddress(t)
	host := startMailHost(t, listener, "ada", "ben", "support")
	p := onSQLite(t)
	d := &desk{host: host, node: p.serve(host.flags("--dkim-key-file", dkimKey(t), "--dev-clock")...)}
	first := p.firstRun()
	d.http, d.owner = p.client(), p.token(first.Company.ID, first.Owner.Email)
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
	for _, who := range []string{"ada", "ben"} {
		p.object("user", "invite", "--company", first.Company.ID, "--email", who+"@demo.example", "--role", "member")
	}
	offering := d.offeringNamed(d.http, first, "Access to a system")
	for _, input := range []string{
		`{address: "desk@demo.example", offeringId: $o, authservId: "mx.demo.example"}`,
		`{address: "support@demo.example", kind: imap, server: "127.0.0.1:` + host.IMAPS + `", password: "secret", offeringId: $o, authservId: "mx.demo.example"}`,
	} {
		d.graphQL(d.owner, `mutation ($o: ID!) { createMailbox(input: `+input+`) { mailbox { id } } }`, map[string]any{"o": offering})
	}
	d.converse("ada", "desk@demo.example")
	d.converse("ben", "support@demo.example")
	d.forge(listener)
	d.quiet()
}

// converse has somebody file a request by mail with two files, be asked, answer with a quotation, and open the completed request again.
func (d *desk) converse(who, mailbox string) {
	d.t.Helper()
	address := who + "@demo.example"
	from := strings.ToUpper(who[:1]) + who[1:] + " Osei <" + address + ">"
	send := func(to, id, message, outcome string) {
		d.t.Helper()
		d.host.submit(who, address, to, message)
		d.fetched(to, id)
		d.became(id, outcome)
	}
	send(mailbox, "new@"+who, withFiles(from, mailbox, "new@"+who, "Der Samowar brennt – "+who, "Bitte kommt."), "REQUEST")
	receipt := d.host.arrived(who, "We have received your request")
	d.verifyDKIM(receipt)
	require.Equal(d.t, "auto-generated", receipt.Header.Get("Auto-Submitted"))
	answers := strings.Trim(receipt.Header.Get("Reply-To"), "<>")
	require.Regexp(d.t, `\+[a-z2-7]{20}@`, answers)
	id := regexp.MustCompile(`req_[0-9a-z]{26}`).FindString(receipt.Header.Get("References"))
	require.NotEmpty(d.t, id)
	d.requireFiles(id)

	d.call(d.http, 201, "POST", "/v1/requests/"+id+"/comments", d.owner, `{"body":"Is anybody hurt?\n\nWe are on our way."}`)
	d.advance(gathered)
	asked := d.host.arrived(who, "Is anybody hurt?")
	d.verifyDKIM(asked)
	require.Equal(d.t, receipt.Header.Get("Subject"), asked.Header.Get("Subject"))
	send(answers, "answer@"+who, gmailReply(asked, from, "answer@"+who, "Nobody is.\r\nBut it is hot – come soon."), "COMMENT")
	var said map[string]any
	for _, c := range d.comments(id) {
		if c["via"] == "mail" {
			said = c
		}
	}
	require.Equal(d.t, []any{"Nobody is.\nBut it is hot – come soon.", "mail"}, []any{said["body"], said["via"]})
	for _, words := range []string{"wrote:", "Please write your answer above this line", "Is anybody hurt?", "We are on our way."} {
		require.Contains(d.t, said["quoted"], words)
	}

	require.NotRegexp(d.t, `token=\w`, said["quoted"], "who reads the comment could act in its author's name")
	for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
		d.call(d.http, 200, "PATCH", "/v1/requests/"+id, d.owner, `{"status":"`+status+`"}`)
	}
	d.advance(gathered)
	completed := d.host.arrived(who, "completed your request")
	away := "From: " + from + "\r\nTo: " + answers + "\r\nSubject: Re: " + completed.Header.Get("Subject") + "\r\nMessage-ID: <away@" + who + ">\r\nIn-Reply-To: " +
		completed.Header.Get("Message-ID") + "\r\nReferences: " + completed.Header.Get("References") + "\r\nAuto-Submitted: auto-replied\r\n\r\nI am away.\r\n"
	d.host.submit(who, "", answers, away)
	d.fetched(answers, "away@"+who)
	d.became("away@"+who, "LOOP")
	require.Contains(d.t, d.call(d.http, 200, "GET", "/v1/requests/"+id, d.owner, "").body, `"status":"COMPLETED"`)
	send(answers, "again@"+who, gmailReply(completed, from, "again@"+who, "It burns again."), "COMMENT")
	require.Contains(d.t, d.call(d.http, 200, "GET", "/v1/requests/"+id, d.owner, "").body, `"status":"IN_PROGRESS"`)
	require.Len(d.t, d.comments(id), 3)
	d.last = id
}

// fetched has the server fetch a message once it has come to the mailbox that mail is fetched from.
func (d *desk) fetched(to, id string) {
	d.t.Helper()
	if !strings.HasPrefix(to, "support") {
		return
	}
	require.Eventually(d.t, func() bool {
		for _, l := range d.host.letters("support") {
			if l.Header.Get("Message-ID") == "<"+id+">" {
				return true
			}
		}
		return false
	}, patience, 50*time.Millisecond, "%s does not come", id)
	d.advance("61s")
}

// requireFiles requires that a request has both files as they were sent.
func (d *desk) requireFiles(id string) {
	d.t.Helper()
	want := map[string]string{"Rauch über.txt": smokeText, "samovar.png": string(smokeImage)}
	files := rowsOf(d.call(d.http, 200, "GET", "/v1/requests/"+id+"/attachments", d.owner, "").body)
	require.Len(d.t, files, len(want))
	for _, f := range files {
		require.Equal(d.t, want[f["name"].(string)], d.call(d.http, 200, "GET", "/v1/attachments/"+f["id"].(string)+"/content", d.owner, "").body, f["name"])
	}
}

// forge has Eve write in Ada's name: through the mail server, to a mailbox and to Ada's own address for answers, and to the listener itself.
func (d *desk) forge(listener string) {
	d.t.Helper()
	answers := strings.Trim(d.host.arrived("ada", "We have received your request").Header.Get("Reply-To"), "<>")
	in := func(server, to, id string) string {
		return "Authentication-Results: " + server + "; dmarc=pass header.from=demo.example\r\nFrom: Ada Osei <ada@demo.example>\r\nTo: " + to + "\r\nSubject: Pay Eve\r\nMessage-ID: <" + id + ">\r\n\r\nPay Eve.\r\n"
	}
	for id, to := range map[string]string{"forged-new@eve": "desk@demo.example", "forged-answer@eve": answers, "forged-fetched@eve": "support@demo.example"} {
		d.host.submit("eve", "ada@demo.example", to, in("mx.demo.example", to, id))
		d.fetched(to, id)
		d.became(id, "HELD It is not proven to come from its sender. dmarc: fail")
	}
	require.NoError(d.t, smtp.SendMail("127.0.0.1:"+d.host.SMTP, nil, "ada@demo.example", []string{answers}, []byte(in("mx.demo.example", answers, "forged-unsigned@eve"))))
	d.became("forged-unsigned@eve", "HELD")
	sendMail(d.t, listener, "ada@demo.example", answers, in("mx.evil.example", answers, "forged-direct@eve"))
	d.became("forged-direct@eve", "HELD")
	d.host.submit("ben", "ben@demo.example", answers, "From: ben@demo.example\r\nTo: "+answers+"\r\nSubject: Re: it\r\nMessage-ID: <other@ben>\r\n\r\nLet me in.\r\n")
	d.became("other@ben", "HELD It answers a mail that was sent to somebody else.")
}

// quiet requires that all has been said: each message became what it should, nobody answers any more, and of the automatic answers, which
// are to people alone, none was answered.
func (d *desk) quiet() {
	d.t.Helper()
	d.host.submit("ben", "ben@demo.example", "ada@demo.example", "From: ben@demo.example\r\nTo: ada@demo.example\r\nSubject: Lunch\r\nMessage-ID: <lunch@ben>\r\n\r\nToday?\r\n")
	d.host.arrived("ben", "ada is away.")
	require.Eventually(d.t, func() bool { return d.host.queued() == 0 }, patience, 200*time.Millisecond)
	d.advance("61s") // fetches the rest
	d.call(d.http, 201, "POST", "/v1/requests/"+d.last+"/comments", d.owner, `{"body":"That was all."}`)
	d.advance(gathered)
	d.host.arrived("ben", "That was all.")
	count := map[string]int{}
	for _, outcome := range d.outcomes() {
		count[outcome[:strings.IndexByte(outcome+" ", ' ')]]++
		require.NotContains(d.t, outcome, "DUPLICATE")
	}
	require.Equal(d.t, map[string]int{"REQUEST": 2, "COMMENT": 4, "LOOP": 2, "HELD": 6}, count)
	got := map[string]int{}
	for _, who := range []string{"ada", "ben"} {
		for _, l := range d.host.letters(who) {
			got[who+" from "+l.Header.Get("From")+" "+l.Header.Get("Auto-Submitted")]++
		}
	}
	product := `"The desk" <no-reply@mail.demo.example> auto-generated`
	require.Equal(d.t, map[string]int{
		"ada from " + product: 4, "ben from " + product: 5, "ada from ben@demo.example ": 1, "ben from <ada@demo.example> auto-replied (vacation)": 1,
		"ben from <support@demo.example> auto-replied (vacation)": 1, "ada from <support@demo.example> auto-replied (vacation)": 1, // to her forged mail
	}, got)
}
