package mailbox_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// A new mail files a request for its sender, with its files; an answer to our mail becomes a comment without what it quotes, which is kept
// apart; and one to a completed request opens it again.
func TestMailBecomesRequestsAndComments(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		file := "--b\r\nContent-Type: text/plain; name=\"log.txt\"\r\nContent-Disposition: attachment; filename=\"../log.txt\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			base64.StdEncoding.EncodeToString([]byte("It broke.")) + "\r\n--b--"
		require.NoError(t, d.send(mail{from: who.Email, to: d.box.Address, id: "1@x", subject: "The printer", header: "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n",
			body: "--b\r\nContent-Type: text/plain\r\n\r\nIt is on fire.\r\n\r\n" + file}))
		m := d.came("1@x", inboundmail.OutcomeREQUEST)
		r := d.request(*m.RequestID)
		require.Equal(t, []string{"The printer", "It is on fire.", who.ID, who.ID, d.offering.ID}, []string{r.Title, r.Description, r.RequesterID, r.CreatedBy, r.OfferingID})
		require.Equal(t, []string{who.Email, "The printer", "It is on fire.", *d.box.ReceivesAt}, []string{m.Sender, m.Subject, m.Excerpt, m.Recipient})
		require.Equal(t, "log.txt", d.attached(r.ID).Name, "a name is no path")
		require.Contains(t, d.changes("request.created", r.ID), `"via":{"from":null,"to":"mail"}`)

		began := func(u *ent.User) string {
			id, err := mailbox.Began(d.AsUser(u), d.Store.Reader(), u, r.ID)
			require.NoError(t, err)
			return id
		}
		require.Equal(t, []string{"1@x", ""}, []string{began(who), began(d.A.Users[principal.Agent])}, "mails to its author answer it")

		at := d.answerTo(who, r.ID)
		require.NoError(t, d.send(mail{from: "Someone <" + strings.ToUpper(who.Email) + ">", to: at, id: "2@x", subject: "Re: #1 The printer", refs: r.ID + "@atrium.test",
			body: "Still burning.\r\n\r\nOn Mon, 30 Nov 2026 at 10:00, The desk <help@acme.test> wrote:\r\n> Is it?"}, at))
		m = d.came("2@x", inboundmail.OutcomeCOMMENT)
		require.Equal(t, r.ID, *m.RequestID)
		c := d.comments(r.ID)[0]
		require.Equal(t, []string{*m.CommentID, "Still burning.", who.ID, string(comment.ViaMail), string(comment.VisibilityPublic)}, []string{c.ID, c.Body, c.AuthorID, string(*c.Via), string(c.Visibility)})
		require.Contains(t, *c.Quoted, "> Is it?")
		require.Contains(t, d.changes("comment.created", c.ID), `"via":{"from":null,"to":"mail"}`)

		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, d.As(d.A, principal.Agent), request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(status)})
		}
		require.NoError(t, d.send(mail{from: who.Email, to: at, id: "3@x", subject: "Antwort", body: "It burns again."}, at)) // the token alone tells which request
		d.came("3@x", inboundmail.OutcomeCOMMENT)
		require.Equal(t, "IN_PROGRESS", string(d.request(r.ID).Status))
	})
}

// changes returns what the audit entry of an action on a row says.
func (d *desk) changes(action, id string) string {
	d.t.Helper()
	e, err := d.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action), auditentry.ResourceID(id)).Only(principal.System(d.t.Context(), "test"))
	require.NoError(d.t, err)
	return string(e.Changes)
}

// attached returns the one file of a request.
func (d *desk) attached(requestID string) *ent.Attachment {
	d.t.Helper()
	list := testkit.Run(d.t, d.World, d.As(d.A, principal.Agent), attachment.List, attachment.ListInput{ByID: op.ByID{ID: requestID}})
	require.Len(d.t, list.Rows, 1)
	return list.Rows[0]
}

// Without a token a mail answers a request that it names only if its sender takes part in it; with somebody else's token it waits for
// staff, who may release it: then it goes where it would without one.
func TestWhoAnswers(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, agent := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		other := d.AddUser(t, d.A, "other@a.test", principal.Member)
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		ref := r.ID + "@atrium.test"
		require.NoError(t, d.send(mail{from: who.Email, id: "named@x", subject: "#1 please", body: "Hello?"}))
		require.Equal(t, r.ID, *d.came("named@x", inboundmail.OutcomeCOMMENT).RequestID)
		require.NoError(t, d.send(mail{from: other.Email, id: "stranger@x", subject: "Re: #1 Laptop", refs: ref, body: "Me too"}))
		m := d.came("stranger@x", inboundmail.OutcomeREQUEST)
		require.NotEqual(t, r.ID, *m.RequestID)

		at := d.answerTo(who, r.ID)
		require.NoError(t, d.send(mail{from: other.Email, id: "stolen@x", subject: "Re: #1 Laptop", refs: ref, body: "It is mine"}, at))
		m = d.came("stolen@x", inboundmail.OutcomeHELD)
		require.Equal(t, "It answers a mail that was sent to somebody else.", *m.Reason)
		require.Len(t, d.comments(r.ID), 1)
		testkit.Run(t, d.World, d.AsUser(agent), mailbox.Release, op.ByID{ID: m.ID})
		require.Eventually(t, func() bool { return d.messages()[0].Outcome == inboundmail.OutcomeREQUEST }, patience, tick)
		require.NotEqual(t, r.ID, *d.messages()[0].RequestID)

		testkit.Run(t, d.World, d.AsUser(agent), request.Watch, request.WatchInput{ByID: op.ByID{ID: r.ID}})
		require.NoError(t, d.send(mail{from: agent.Email, id: "lent@x", subject: "Re: #1 Laptop", refs: ref, body: "I know more"}, at))
		m = d.came("lent@x", inboundmail.OutcomeHELD)
		testkit.Run(t, d.World, d.AsUser(agent), mailbox.Release, op.ByID{ID: m.ID})
		require.Eventually(t, func() bool { return d.messages()[0].Outcome == inboundmail.OutcomeCOMMENT }, patience, tick)
		require.Equal(t, r.ID, *d.messages()[0].RequestID)

		// The same names in another company say nothing of this one.
		theirs := d.B.Users[principal.Member]
		require.NoError(t, d.send(mail{from: theirs.Email, id: "foreign@x", subject: "#1", refs: ref, body: "Let me in"}))
		require.Equal(t, "Its sender is no member. Invite them, and release it.", *d.came("foreign@x", inboundmail.OutcomeHELD).Reason)
		require.Empty(t, testkit.Run(t, d.World, d.As(d.B, principal.Owner), mailbox.ListMessages, mailbox.ListMessagesInput{}).Rows)
	})
}

// A message whose sender nothing vouches for is held. Staff release it as what it says, or refuse it; neither can be done twice.
func TestForgedSendersAreHeld(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		forged := d.AddUser(t, d.A, "forged-ceo@a.test", principal.Admin)
		staff := d.As(d.A, principal.Agent)
		for _, id := range []string{"1@x", "2@x"} {
			require.NoError(t, d.send(mail{from: forged.Email, id: id, subject: "Pay this", body: "Now."}))
			require.Contains(t, *d.came(id, inboundmail.OutcomeHELD).Reason, "not proven to come from its sender. dkim: no signature")
		}
		second, first := d.messages()[0], d.messages()[1]
		testkit.Run(t, d.World, staff, mailbox.Refuse, op.ByID{ID: second.ID})
		testkit.Run(t, d.World, staff, mailbox.Release, op.ByID{ID: first.ID})
		require.Eventually(t, func() bool { return d.messages()[1].Outcome == inboundmail.OutcomeREQUEST }, patience, tick)
		require.Equal(t, forged.ID, d.request(*d.messages()[1].RequestID).RequesterID)
		for _, m := range []*ent.InboundMail{first, second} {
			_, _, err := op.Run(staff, d.Engine, mailbox.Release, op.ByID{ID: m.ID}, nil)
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		}
		_, _, err := op.Run(d.As(d.A, principal.Member), d.Engine, mailbox.ListMessages, mailbox.ListMessagesInput{}, nil)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
		_, _, err = op.Run(d.As(d.B, principal.Owner), d.Engine, mailbox.Release, op.ByID{ID: first.ID}, nil)
		require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
	})
}

// Each message becomes something once: sent again, sent to two mailboxes of the company at once, and sent again while it is held.
func TestTheSameMessageTwice(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		second := testkit.Run(t, d.World, d.As(d.A, principal.Owner), mailbox.Create, mailbox.CreateInput{Address: "it@acme.test", OfferingID: d.offering.ID}).Mailbox
		m := mail{from: who.Email, id: "1@x", subject: "Once", body: "Only."}
		require.NoError(t, d.send(m, *d.box.ReceivesAt, *second.ReceivesAt))
		require.NoError(t, d.send(m))
		require.Equal(t, map[inboundmail.Outcome]int{"REQUEST": 1, "DUPLICATE": 2}, d.outcomes(3))

		forged := d.AddUser(t, d.A, "forged-ceo@a.test", principal.Admin)
		for range 2 {
			require.NoError(t, d.send(mail{from: forged.Email, id: "", subject: "No id", body: "The same bytes."}))
			d.outcomes(4)
		}
		require.Equal(t, map[inboundmail.Outcome]int{"REQUEST": 1, "DUPLICATE": 3, "HELD": 1}, d.outcomes(5))
	})
}

// outcomes waits until so many messages have an outcome, and counts them.
func (d *desk) outcomes(n int) (out map[inboundmail.Outcome]int) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		out = map[inboundmail.Outcome]int{}
		list := d.messages()
		for _, m := range list {
			out[m.Outcome]++
		}
		return len(list) >= n && out[inboundmail.OutcomeRECEIVED] == 0
	}, patience, tick)
	return out
}

// What a machine has sent, what comes from a mailbox itself, and whoever writes too much starts nothing.
func TestLoops(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		for id, m := range map[string]mail{
			"away@x": {from: who.Email, header: "Auto-Submitted: auto-replied\r\n"}, "list@x": {from: who.Email, header: "List-Id: <all.acme.test>\r\n"},
			"bulk@x": {from: who.Email, header: "Precedence: bulk\r\n"}, "self@x": {from: d.box.Address}, "here@x": {from: *d.box.ReceivesAt},
		} {
			m.id, m.subject, m.body = id, "Out of office", "I am away."
			require.NoError(t, d.send(m))
			require.NotEmpty(t, *d.came(id, inboundmail.OutcomeLOOP).Reason)
		}
		for n := range 25 {
			require.NoError(t, d.send(mail{from: who.Email, id: fmt.Sprintf("%d@x", n), subject: "Again", body: "And again."}))
		}
		out := d.outcomes(30)
		require.Equal(t, 5, out["LOOP"])
		require.Equal(t, 30, out["LOOP"]+out["REQUEST"]+out["HELD"])
		require.LessOrEqual(t, out["REQUEST"], 21, "two at once may both be the twentieth")
		require.Positive(t, out["HELD"])
		receipts := 0
		for _, j := range d.Unfinished(t, d.A.Company.ID) {
			if j.Kind == "notice_progress" && strings.Contains(string(j.Args), "receipt") {
				receipts++
			}
		}
		require.LessOrEqual(t, receipts, 6, "two at once may both be the fifth")
		require.Positive(t, receipts)
	})
}

// A report that a mail of ours did not arrive marks its reader, if it came to the address that only that mail had.
func TestBounces(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		report := mail{from: "MAILER-DAEMON@mx.test", subject: "Undelivered", header: "MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n",
			body: "--b\r\nContent-Type: text/plain\r\n\r\nIt did not arrive.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.test\r\n\r\n" +
				"Final-Recipient: rfc822; " + who.Email + "\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nReferences: <" + r.ID + "@atrium.test>\r\n\r\n--b--"}
		state := func() user.MailState {
			return testkit.Run(t, d.World, d.As(d.A, principal.Owner), people.GetUser, op.ByID{ID: who.ID}).MailState
		}
		report.id = "forged@x"
		require.NoError(t, d.send(report))
		d.came("forged@x", inboundmail.OutcomeBOUNCE)
		require.Equal(t, user.MailStateOK, state(), "anybody can write one")
		report.id = "true@x"
		require.NoError(t, d.send(report, d.answerTo(who, r.ID)))
		d.came("true@x", inboundmail.OutcomeBOUNCE)
		require.Equal(t, user.MailStateBOUNCED, state())
	})
}

// What becomes of a stranger's mail is the mailbox's setting. Whoever is invited by their mail is a member then, and is not invited twice.
func TestStrangers(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		owner := d.As(d.A, principal.Owner)
		for n, what := range []string{"refuse", "create", "create"} {
			testkit.Run(t, d.World, owner, mailbox.Update, mailbox.UpdateInput{ByID: op.ByID{ID: d.box.ID}, UnknownSenders: op.SetTo(what)})
			require.NoError(t, d.send(mail{from: "Eve http://evil.test <eve@out.test>", id: fmt.Sprintf("%d@x", n), subject: "Hello", body: "Me."}))
			d.outcomes(n + 1)
		}
		require.Equal(t, "Its sender is no member.", *d.came("0@x", inboundmail.OutcomeREFUSED).Reason)
		r := d.request(*d.came("1@x", inboundmail.OutcomeREQUEST).RequestID)
		u := testkit.Run(t, d.World, owner, people.GetUser, op.ByID{ID: r.RequesterID})
		require.Equal(t, []string{"eve@out.test", "invited", "member"}, []string{u.Email, string(u.Status), string(u.Role)})
		require.NotContains(t, u.Name, "evil.test", "a name is no link")
		require.Equal(t, r.RequesterID, d.request(*d.came("2@x", inboundmail.OutcomeREQUEST).RequestID).RequesterID)

		testkit.Run(t, d.World, owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: u.ID}})
		require.NoError(t, d.send(mail{from: u.Email, id: "gone@x", subject: "Hello", body: "Me."}))
		require.Equal(t, "Its sender is no member any more.", *d.came("gone@x", inboundmail.OutcomeREFUSED).Reason)
	})
}

// What a sender may not do in the console, a mail of theirs does not either: it waits for staff, with the reason.
func TestRightsHoldForMail(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, owner := d.A.Users[principal.Member], d.As(d.A, principal.Owner)
		deny := policy.NewCondition([]byte(`{"principal.role": "member"}`))
		p := testkit.Run(t, d.World, owner, policy.Create, policy.CreateInput{Name: "No", Effect: "Deny", Action: "create", Resource: "Request", Condition: &deny})
		require.NoError(t, d.send(mail{from: who.Email, id: "1@x", subject: "Hello", body: "Me."}))
		m := d.came("1@x", inboundmail.OutcomeHELD)
		require.NotEmpty(t, *m.Reason)
		testkit.Run(t, d.World, owner, policy.Delete, op.ByID{ID: p.ID})
		testkit.Run(t, d.World, d.As(d.A, principal.Agent), mailbox.Release, op.ByID{ID: m.ID})
		require.Eventually(t, func() bool { return d.messages()[0].Outcome == inboundmail.OutcomeREQUEST }, patience, tick)
	})
}

// Nothing is only cut: what is too long for a text is a file or a quotation. What no request or comment can be made of becomes one all the
// same, or is refused with its reason.
func TestShapes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		long := strings.Repeat("One line of many.\r\n", 1000)
		require.NoError(t, d.send(mail{from: who.Email, id: "long@x", subject: strings.Repeat("ab ", 200), body: long}))
		r := d.request(*d.came("long@x", inboundmail.OutcomeREQUEST).RequestID)
		require.Len(t, []rune(r.Title), 300)
		require.Len(t, []rune(r.Description), 10_000)
		require.Equal(t, "mail.txt", d.attached(r.ID).Name)

		require.NoError(t, d.send(mail{from: who.Email, id: "empty@x", subject: "", body: ""}))
		require.Equal(t, "(no text)", d.request(*d.came("empty@x", inboundmail.OutcomeREQUEST).RequestID).Title)
		require.NoError(t, d.send(mail{from: who.Email, id: "blank@x", subject: "=?utf-8?Q?=E2=80=8B?=", header: "Content-Type: text/plain; charset=utf-8\r\n", body: "\u200b\r\n"}))
		require.Equal(t, "(no text)", d.request(*d.came("blank@x", inboundmail.OutcomeREQUEST).RequestID).Title)
		require.NoError(t, d.send(mail{from: "a@acme.test, b@acme.test", id: "nobody@x", subject: "Who", body: "am I?"}))
		d.came("nobody@x", inboundmail.OutcomeREFUSED)
		deep := strings.Repeat("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", 100)
		require.NoError(t, d.send(mail{from: who.Email, id: "deep@x", subject: "Deep", header: deep}))
		require.NotEmpty(t, *d.came("deep@x", inboundmail.OutcomeREFUSED).Reason)
	})
}

// While the sender cannot be checked the message waits; in the end it is held.
func TestChecksThatCannotBeMade(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.dns.mu.Lock()
		d.dns.down = true
		d.dns.mu.Unlock()
		require.NoError(t, d.send(mail{from: d.A.Users[principal.Member].Email, id: "1@x", subject: "Hello", body: "Me."}))
		require.Eventually(t, func() bool {
			d.dns.mu.Lock()
			defer d.dns.mu.Unlock()
			return d.dns.asked == 1
		}, patience, tick)
		require.Equal(t, inboundmail.OutcomeRECEIVED, d.messages()[0].Outcome)
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), mailbox.Update, mailbox.UpdateInput{ByID: op.ByID{ID: d.box.ID}, AuthservID: op.SetTo("mx.acme.test")})
		require.NoError(t, d.send(mail{from: d.A.Users[principal.Member].Email, id: "2@x", subject: "Hello", body: "Me.", header: ""}))
		require.Contains(t, *d.came("2@x", inboundmail.OutcomeHELD).Reason, "not proven")
	})
}

// A company whose senders' DNS is slow holds up its own mail, and not another one's.
func TestSlowSendersAreTheirCompanysOwn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		d.dns.slow = make(chan struct{})
		d.work()
		owner := w.As(w.B, principal.Owner)
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Help"})
		theirs := testkit.Run(t, w, owner, mailbox.Create, mailbox.CreateInput{Address: "help@acme.test", OfferingID: o.ID}).Mailbox
		require.NotEqual(t, *d.box.ReceivesAt, *theirs.ReceivesAt, "the same name in another company")
		for n := range 10 {
			require.NoError(t, d.send(mail{from: fmt.Sprintf("slow-%d@out.test", n), id: fmt.Sprintf("%d@x", n), subject: "Wait", body: "For it."}))
		}
		require.NoError(t, d.send(mail{from: w.B.Users[principal.Member].Email, id: "theirs@x", subject: "Hello", body: "Me."}, *theirs.ReceivesAt))
		require.Eventually(t, func() bool {
			list := testkit.Run(t, w, owner, mailbox.ListMessages, mailbox.ListMessagesInput{}).Rows
			return len(list) == 1 && list[0].Outcome == inboundmail.OutcomeREQUEST
		}, patience, tick)
		require.Equal(t, inboundmail.OutcomeRECEIVED, d.messages()[0].Outcome)
		close(d.dns.slow)
	})
}

// After 30 days the bytes of a message go; of one that became something the row stays, so that it is known again.
func TestRawMessagesAreForgotten(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		m := mail{from: who.Email, id: "1@x", subject: "Once", body: "Only."}
		require.NoError(t, d.send(m))
		d.came("1@x", inboundmail.OutcomeREQUEST)
		require.NoError(t, d.send(mail{from: "forged@forged.test", id: "2@x", subject: "Hm", body: "No."}))
		d.came("2@x", inboundmail.OutcomeHELD)
		forget := func(before time.Time) (n int) {
			t.Helper()
			require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) (err error) {
				n, err = d.Forget(ctx, tx.Client, before)
				return err
			}))
			return n
		}
		require.Zero(t, forget(d.messages()[1].CreatedAt))
		require.Equal(t, 2, forget(d.Clock.Now().Add(time.Hour)))
		require.Len(t, d.messages(), 1)
		require.Empty(t, d.messages()[0].StoredAs+d.messages()[0].Excerpt)
		require.Equal(t, 2, d.stored(), "the bytes go a day later")
		d.Clock.SetOffset(25 * time.Hour)
		require.NoError(t, d.Depot.Sweep(t.Context()))
		require.Zero(t, d.stored())
		d.Clock.SetOffset(0)
		require.NoError(t, d.send(m))
		require.Equal(t, map[inboundmail.Outcome]int{"REQUEST": 1, "DUPLICATE": 1}, d.outcomes(2))
	})
}

// A mailbox's mail goes nowhere while it is disabled, and what it was is gone with it; what its mail became stays.
func TestMailboxes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		owner := d.As(d.A, principal.Owner)
		require.Equal(t, []string{"help@acme.test", "help.acme@" + domain}, []string{d.box.Address, *d.box.ReceivesAt})
		for _, in := range []mailbox.CreateInput{
			{Address: "nobody", OfferingID: d.offering.ID}, {Address: "a+b@acme.test", OfferingID: d.offering.ID}, {Address: "x@acme.test", OfferingID: "off_none"},
			{Address: "x@acme.test", OfferingID: d.offering.ID, Kind: new("imap")}, {Address: "x@acme.test", OfferingID: d.offering.ID, Server: new("imap.acme.test")},
			{Address: "x@acme.test", OfferingID: d.offering.ID, Kind: new("imap"), Server: new("127.0.0.1:993"), Password: new(secret.Value("x"))},
			{Address: "x@acme.test", OfferingID: d.offering.ID, Kind: new("imap"), Server: new("a/b:993"), Password: new(secret.Value("x"))},
		} {
			_, _, err := op.Run(owner, d.Engine, mailbox.Create, in, nil)
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%+v", in)
		}
		_, _, err := op.Run(owner, d.Engine, mailbox.Create, mailbox.CreateInput{Address: "HELP@acme.test", OfferingID: d.offering.ID}, nil)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "one mailbox of an address")
		theirs := testkit.Run(t, d.World, d.As(d.B, principal.Owner), people.GetUser, op.ByID{ID: d.B.Users[principal.Owner].ID})
		_, _, err = op.Run(d.AsUser(theirs), d.Engine, mailbox.Create, mailbox.CreateInput{Address: "help@acme.test", OfferingID: d.offering.ID}, nil)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err), "another company's offering")

		require.NoError(t, d.send(mail{from: d.A.Users[principal.Member].Email, id: "1@x", subject: "Hello", body: "Me."}))
		r := *d.came("1@x", inboundmail.OutcomeREQUEST).RequestID
		testkit.Run(t, d.World, owner, mailbox.Update, mailbox.UpdateInput{ByID: op.ByID{ID: d.box.ID}, Enabled: op.SetTo(false)})
		known, err := d.Known(t.Context(), *d.box.ReceivesAt)
		require.NoError(t, err)
		require.False(t, known)
		require.ErrorIs(t, d.send(mail{}), mailbox.ErrUnknown)
		testkit.Run(t, d.World, owner, mailbox.Delete, op.ByID{ID: d.box.ID})
		require.Empty(t, d.messages())
		require.Equal(t, "Hello", d.request(r).Title)
	})
}
