package main_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// ofOneSender is how many messages one sender writes here: a 21st of an hour would be held.
const ofOneSender = 15

// postmen send messages beside a server that is killed.
type postmen struct {
	*desk
	sent    int            // messages so far
	answers map[int]string // the address for answers of each sender who has one
	titles  []string       // of the requests that there must be
	said    []string       // in the comments that there must be
}

// The server is killed while mails come, by SMTP from a mail server that sends again what was not taken, and by IMAP: each message is
// exactly one request or one comment, with its file. ATRIUM_SOAK_ROUNDS is the number of kills.
func TestKilledWhileMailComes(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		listener := freeAddress(t)
		host := startMailHost(t, listener)
		flags := host.flags("--dev-clock")
		w := &postmen{desk: &desk{host: host, node: p.serve(flags...)}, answers: map[int]string{}}
		first := p.firstRun()
		w.http, w.owner = p.client(), p.token(first.Company.ID, first.Owner.Email)
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000", "--invitations", "1000")
		offering := w.offeringNamed(w.http, first, "Access to a system")
		for _, input := range []string{
			`{address: "desk@demo.example", offeringId: $o, unknownSenders: create, authservId: "mx.demo.example"}`,
			`{address: "support@demo.example", kind: imap, server: "127.0.0.1:` + host.IMAPS + `", password: "secret", offeringId: $o, unknownSenders: create, authservId: "mx.demo.example"}`,
		} {
			w.graphQL(w.owner, `mutation ($o: ID!) { createMailbox(input: `+input+`) { mailbox { id } } }`, map[string]any{"o": offering})
		}
		kills := testkit.Rounds(t, 3)
		for talker := range (kills + ofOneSender - 1) / ofOneSender {
			w.file(fmt.Sprint("talker", talker), "desk@demo.example")
			l := host.arrived(fmt.Sprint("talker", talker), "We have received your request")
			w.answers[talker] = strings.Trim(l.Header.Get("Reply-To"), "<>")
		}
		t.Cleanup(func() {
			if t.Failed() {
				t.Log(strings.Join(column(t, p, "SELECT coalesce(message_id, '') || ' ' || outcome || ' ' || coalesce(reason, '') FROM inbound_mails"), "\n"), w.err)
			}
		})
		for kill := range kills {
			w.send(kill)
			time.Sleep(rand.N(500 * time.Millisecond)) // anywhere
			w.kill()
			w.node = p.launch(flags...)
			if kill%2 == 0 {
				w.awaitReady()
			} else {
				time.Sleep(rand.N(2 * time.Second)) // also while it starts
			}
		}
		w.kill()
		w.node = p.serve(flags...)
		w.requireWhole()
		w.kill()
		requireHealthy(t, p)
	})
}

// send has strangers write to both mailboxes, and somebody answer. Two messages of a stranger come at the same time.
func (w *postmen) send(round int) {
	w.t.Helper()
	who := fmt.Sprint("p", w.sent/ofOneSender)
	w.file(who, "desk@demo.example")
	w.file(who, "support@demo.example")
	w.file(who, "desk@demo.example")
	talker := round / ofOneSender
	from, to := fmt.Sprintf("talker%d@demo.example", talker), w.answers[talker]
	text := fmt.Sprint("Answer ", round)
	w.said = append(w.said, text)
	w.host.submit(fmt.Sprint("talker", talker), from, to, mimeMessage([]string{"From: " + from, "To: " + to, "Subject: Re: it", fmt.Sprintf("Message-ID: <answer%d@x>", round)},
		"multipart/mixed", entry{kind: "text/plain", body: []byte(text)}, entry{"text/plain", "attachment; filename=a.txt", []byte(text)}))
}

// file has somebody send a new message with a file.
func (w *postmen) file(who, to string) {
	w.t.Helper()
	w.sent++
	title := fmt.Sprintf("Mail %d", w.sent)
	w.titles = append(w.titles, title)
	from := who + "@demo.example"
	w.host.submit(who, from, to, mimeMessage([]string{"From: " + from, "To: " + to, "Subject: " + title, fmt.Sprintf("Message-ID: <new%d@x>", w.sent)},
		"multipart/mixed", entry{kind: "text/plain", body: []byte("Hello.")}, entry{"text/plain", "attachment; filename=a.txt", []byte(title)}))
}

// requireWhole waits until all that was sent has come, and requires that each message has become one thing.
func (w *postmen) requireWhole() {
	t := w.t
	t.Helper()
	expected := len(w.titles) + len(w.said)
	require.Eventually(t, func() bool {
		if w.host.queued() > 0 {
			return false
		}
		_, _ = send(w.http, "POST", w.admin+"/dev/clock", "", `{"advance":"61s"}`) // fetches; with much to catch up it answers too late
		return countRows(t, w.place, "inbound_mails WHERE outcome = 'RECEIVED'") == 0 && countRows(t, w.place, "inbound_mails WHERE outcome IN ('REQUEST', 'COMMENT')") >= expected
	}, patience+time.Duration(expected)*time.Second, time.Second)
	sorted := func(list []string) []string {
		sort.Strings(list)
		return list
	}
	require.Equal(t, sorted(w.titles), sorted(column(t, w.place, "SELECT title FROM requests WHERE title LIKE 'Mail %'")))
	require.Equal(t, sorted(w.said), sorted(column(t, w.place, "SELECT body FROM comments WHERE via = 'mail'")))
	require.Equal(t, expected, countRows(t, w.place, "attachments"))
	require.Zero(t, countRows(t, w.place, "inbound_mails WHERE outcome NOT IN ('REQUEST', 'COMMENT', 'DUPLICATE')"))
	t.Logf("%d messages, %d of them came twice", expected, countRows(t, w.place, "inbound_mails WHERE outcome = 'DUPLICATE'"))
}
