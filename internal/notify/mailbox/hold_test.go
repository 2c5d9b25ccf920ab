package mailbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/inboundmail"
	"atrium/internal/desk/request"
	"atrium/internal/notify/inmail/listener"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// system writes as the system does.
func (d *desk) system(write func(ctx context.Context, tx *store.Tx) error) {
	d.t.Helper()
	require.NoError(d.t, d.Store.Write(principal.System(d.t.Context(), "test"), write))
}

// stored counts the files that are stored.
func (d *desk) stored() (n int) {
	d.t.Helper()
	require.NoError(d.t, d.Depot.Files.List(d.t.Context(), func(string, time.Time) error { n++; return nil }))
	return n
}

// waiting is a store that opens no file before the test lets it.
type waiting struct {
	files.Store
	hold atomic.Bool
	came chan struct{} // gets one of each that waits
	free chan struct{} // closed: goes on
}

func (s *waiting) Open(ctx context.Context, key string) (files.Stored, error) {
	if !s.hold.Load() {
		return s.Store.Open(ctx, key)
	}
	s.came <- struct{}{}
	select {
	case <-s.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Store.Open(ctx, key)
}

// held returns a held message, and what holds the jobs up that work it from now on.
func (d *desk) held(id string) (*ent.InboundMail, *waiting) {
	d.t.Helper()
	s := &waiting{Store: d.Depot.Files, came: make(chan struct{}, 10), free: make(chan struct{})}
	d.Depot.Files = s
	forged := d.AddUser(d.t, d.A, "forged-ceo@a.test", principal.Admin)
	require.NoError(d.t, d.send(mail{from: forged.Email, id: id, subject: "Pay this", body: "Now."}))
	m := d.came(id, inboundmail.OutcomeHELD)
	s.hold.Store(true)
	return m, s
}

// A message that staff release twice, at once, becomes one thing.
func TestReleasedTwice(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m, jobs := d.held("1@x")
		for range 2 {
			testkit.Run(t, d.World, d.As(d.A, principal.Agent), mailbox.Release, op.ByID{ID: m.ID})
		}
		<-jobs.came
		<-jobs.came // both have read that it is held
		close(jobs.free)
		require.Eventually(t, func() bool { return !d.works() }, patience, tick)
		require.Equal(t, inboundmail.OutcomeREQUEST, d.messages()[0].Outcome)
		all := testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.List, request.ListInput{})
		require.Len(t, all.Rows, 1)
	})
}

// A message that is refused while its release is being worked stays refused.
func TestRefusedWhileItIsReleased(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		m, jobs := d.held("1@x")
		staff := d.As(d.A, principal.Agent)
		testkit.Run(t, d.World, staff, mailbox.Release, op.ByID{ID: m.ID})
		<-jobs.came
		testkit.Run(t, d.World, staff, mailbox.Refuse, op.ByID{ID: m.ID})
		close(jobs.free)
		require.Eventually(t, func() bool { return !d.works() }, patience, tick)
		require.Equal(t, inboundmail.OutcomeREFUSED, d.messages()[0].Outcome)
		require.Empty(t, testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.List, request.ListInput{}).Rows)
	})
}

// Staff who may not read a request do not read it in the list of messages either: neither what it says nor who wrote it.
func TestMessagesOfHiddenRequests(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, owner, staff := d.A.Users[principal.Member], d.As(d.A, principal.Owner), d.As(d.A, principal.Agent)
		require.NoError(t, d.send(mail{from: who.Email, id: "1@x", subject: "My salary", body: "Is too low."}))
		r := d.came("1@x", inboundmail.OutcomeREQUEST)
		require.NoError(t, d.send(mail{from: who.Email, id: "2@x", refs: *r.RequestID + "@atrium.test", subject: "Re: My salary", body: "By half."}))
		d.came("2@x", inboundmail.OutcomeCOMMENT)
		require.NoError(t, d.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.InboundMail.UpdateOneID(r.ID).SetReason("The file payslip.pdf was left out.").Exec(ctx)
		}))
		require.NoError(t, d.send(mail{from: "ada@out.test", id: "3@x", subject: "A printer", body: "Is broken."}))
		d.came("3@x", inboundmail.OutcomeHELD)
		says := func(as context.Context) (out []string) {
			for _, m := range testkit.Run(t, d.World, as, mailbox.ListMessages, mailbox.ListMessagesInput{}).Rows {
				one := testkit.Run(t, d.World, as, mailbox.GetMessage, op.ByID{ID: m.ID})
				require.Equal(t, []string{m.Sender, m.Subject, m.Excerpt}, []string{one.Sender, one.Subject, one.Excerpt})
				out = append(out, m.Sender+"|"+m.Subject+"|"+m.Excerpt+"|"+op.Or(m.Reason, ""))
			}
			return out
		}
		all := says(staff)
		require.Contains(t, all[0], "ada@out.test|A printer|Is broken.|")
		require.Equal(t, who.Email+"|My salary|Is too low.|The file payslip.pdf was left out.", all[2])
		c := policy.NewCondition([]byte(`{"principal.role": "agent", "resource.title": "My salary"}`))
		testkit.Run(t, d.World, owner, policy.Create, policy.CreateInput{Name: "Not salaries", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		require.Equal(t, []string{all[0], "|||", "|||"}, says(staff))
		require.Equal(t, all, says(owner))
	})
}

// works reports whether a job of a message is unfinished.
func (d *desk) works() bool {
	for _, j := range d.Unfinished(d.t, d.A.Company.ID) {
		if j.Kind == (mailbox.Args{}).Kind() {
			return true
		}
	}
	return false
}

// A message at which the server has failed again and again is held, so that staff see it and can release it.
func TestMessagesThatCannotBeWorkedAreHeld(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		require.NoError(t, d.send(mail{from: w.A.Users[principal.Member].Email, id: "1@x", subject: "Hello", body: "Me."}))
		d.system(func(ctx context.Context, tx *store.Tx) error {
			return ent.DriverOf(tx.Client).Exec(ctx, "UPDATE river_job SET attempt = 11 WHERE kind = 'inbound_mail'", []any{}, nil)
		})
		d.work()
		require.Eventually(t, func() bool { return d.messages()[0].Outcome == inboundmail.OutcomeHELD }, patience, tick)
		require.Contains(t, *d.messages()[0].Reason, "Release it to have it tried again")
		testkit.Run(t, w, w.As(w.A, principal.Agent), mailbox.Release, op.ByID{ID: d.messages()[0].ID})
		d.came("1@x", inboundmail.OutcomeREQUEST)
	})
}

// Whoever writes in somebody's name does not keep out what that person writes.
func TestForgedMailCountsForNobody(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.AddUser(t, d.A, "forged-ceo@a.test", principal.Admin)
		for n := range 25 {
			require.NoError(t, d.send(mail{from: who.Email, id: fmt.Sprintf("%d@x", n), subject: "Pay this", body: "Now."}))
		}
		require.Equal(t, map[inboundmail.Outcome]int{"HELD": 25}, d.outcomes(25))
		d.dns.mu.Lock()
		d.dns.proven = true
		d.dns.mu.Unlock()
		require.NoError(t, d.send(mail{from: who.Email, id: "mine@x", subject: "Hello", body: "Me."}))
		d.came("mine@x", inboundmail.OutcomeREQUEST)
	})
}

// filesOf returns a message's body with so many files, and its header.
func filesOf(text string, n int) (header, body string) {
	body = "--b\r\nContent-Type: text/plain\r\n\r\n" + text + "\r\n"
	for i := range n {
		body += fmt.Sprintf("--b\r\nContent-Type: image/png; name=logo%d.png\r\nContent-Disposition: inline; filename=logo%d.png\r\n\r\n%d\r\n", i, i, i)
	}
	return "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n", body + "--b--"
}

// names returns the names of the files of a request, in the order in which they were added.
func (d *desk) names(requestID string) (out []string) {
	d.t.Helper()
	for _, a := range d.Store.Reader().Attachment.Query().Where(attachment.RequestID(requestID)).Order(ent.Asc(attachment.FieldID)).AllX(principal.System(d.t.Context(), "test")) {
		out = append(out, a.Name)
	}
	return out
}

// The whole of a text that is too long is the first file, before those that are too many. Where it cannot be kept the message is held.
func TestLongTextsComeBeforeFiles(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		long := strings.Repeat("One line of many.\r\n", 1000)
		m := mail{from: who.Email, id: "1@x", subject: "Long"}
		m.header, m.body = filesOf(long, 25)
		require.NoError(t, d.send(m))
		came := d.came("1@x", inboundmail.OutcomeREQUEST)
		require.Equal(t, "6 files were too many.", *came.Reason)
		require.Equal(t, "mail.txt", d.names(*came.RequestID)[0])
		require.Len(t, d.names(*came.RequestID), 20)

		d.system(func(ctx context.Context, tx *store.Tx) error { // the company's room is used up
			return tx.Attachment.Create().SetCompanyID(d.A.Company.ID).SetName("huge").SetSize(1 << 50).SetCreatedBy(who.ID).Exec(ctx)
		})
		require.NoError(t, d.send(mail{from: who.Email, id: "2@x", subject: "Long", body: long}))
		require.Contains(t, *d.came("2@x", inboundmail.OutcomeHELD).Reason, "Its text is too long, and the file with it cannot be kept: The company's files use")
		require.NoError(t, d.send(mail{from: who.Email, id: "3@x", subject: "Short", body: "Enough."}))
		d.came("3@x", inboundmail.OutcomeREQUEST)
	})
}

// A request that has as many files as it may have still takes what people write; the reason names the files for which there is no room, and
// no bytes of them stay.
func TestLongThreads(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		d.system(func(ctx context.Context, tx *store.Tx) error {
			rows := make([]*ent.AttachmentCreate, 198)
			for i := range rows {
				rows[i] = tx.Attachment.Create().SetCompanyID(d.A.Company.ID).SetName("logo.png").SetSize(1).SetCreatedBy(who.ID).SetRequestID(r.ID)
			}
			return tx.Attachment.CreateBulk(rows...).Exec(ctx)
		})
		m := mail{from: who.Email, id: "1@x", refs: r.ID + "@atrium.test", subject: "Re: Laptop"}
		m.header, m.body = filesOf("See the logos.", 4)
		require.NoError(t, d.send(m))
		came := d.came("1@x", inboundmail.OutcomeCOMMENT)
		require.Equal(t, "2 files were too many: logo2.png, logo3.png.", *came.Reason)
		require.Contains(t, d.comments(r.ID)[0].Body, "See the logos.")
		require.Equal(t, []string{"logo0.png", "logo1.png"}, d.names(r.ID)[198:])
		require.Eventually(t, func() bool { return d.stored() == 3 }, patience, tick, "the message and two files")

		m.id = "2@x"
		m.header, m.body = filesOf("And these.", 1)
		require.NoError(t, d.send(m))
		require.Equal(t, "1 files were too many: logo0.png.", *d.came("2@x", inboundmail.OutcomeCOMMENT).Reason)
		require.Eventually(t, func() bool { return d.stored() == 4 }, patience, tick, "and the second message")
	})
}

// Nothing stays of a message that is refused because the company has taken in enough, whatever of it was stored before.
func TestRefusedMailLeavesNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		second := testkit.Run(t, w, w.As(w.A, principal.Owner), mailbox.Create, mailbox.CreateInput{Address: "it@acme.test", OfferingID: d.offering.ID}).Mailbox
		d.system(func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(d.A.Company.ID).SetBytesPerMinute(1 << 20).Exec(ctx)
		})
		m := mail{from: w.A.Users[principal.Member].Email, id: "1@x", subject: "Large", body: strings.Repeat(strings.Repeat("x", 98)+"\r\n", 7000)}
		for range 3 {
			require.Error(t, d.send(m, *d.box.ReceivesAt, *second.ReceivesAt))
			_, err := d.DeliverFile(t.Context(), []byte(m.String()), []string{*d.box.ReceivesAt, *second.ReceivesAt}, false)
			require.Error(t, err)
		}
		require.Zero(t, d.stored())
		require.Empty(t, d.messages())
		d.Clock.SetOffset(time.Minute)
		require.NoError(t, d.send(m))
		require.Equal(t, 1, d.stored())
		d.Clock.SetOffset(2 * time.Minute)
		m.body = strings.Repeat(m.body, 2)
		require.NoError(t, d.send(m), "one that is larger than what a minute has")
	})
}

// Messages of more than 30 days go as many at once as any rows, and their bytes a day later: a backup that is being made names them.
func TestManyMessagesAreForgotten(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		require.NoError(t, d.send(mail{from: "ada@out.test", id: "1@x", subject: "Once", body: "Only."}))
		d.system(func(ctx context.Context, tx *store.Tx) error {
			rows := make([]*ent.InboundMailCreate, 250)
			for i := range rows {
				rows[i] = tx.InboundMail.Create().SetCompanyID(d.A.Company.ID).SetMailboxID(d.box.ID).SetRecipient("x").SetSize(1).SetOutcome(inboundmail.OutcomeREFUSED)
			}
			if err := tx.InboundMail.CreateBulk(rows...).Exec(ctx); err != nil {
				return err
			}
			return tx.InboundMail.Update().SetOutcome(inboundmail.OutcomeLOOP).Exec(ctx)
		})
		var forgotten int
		d.system(func(ctx context.Context, tx *store.Tx) (err error) {
			forgotten, err = d.Forget(ctx, tx.Client, d.Clock.Now().Add(time.Hour))
			return err
		})
		require.Equal(t, 251, forgotten)
		require.Empty(t, d.messages())
		sweep := func(after time.Duration) {
			d.Clock.SetOffset(after)
			require.NoError(t, d.Depot.Sweep(t.Context()))
			require.NoError(t, d.Depot.RemoveUnnamed(t.Context()))
		}
		sweep(23 * time.Hour)
		require.Equal(t, 1, d.stored())
		sweep(25 * time.Hour)
		require.Zero(t, d.stored())
		require.Zero(t, d.Store.Reader().Attachment.Query().CountX(principal.System(t.Context(), "test")))
	})
}

// A mail that the listener refuses for its size stands among the messages with the reason, for each mailbox that it was written to. Of very
// many within an hour twenty do, so that nobody fills the list with what costs them nothing.
func TestTooLargeByTheProtocol(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		e := listener.Envelope{Sender: "Ada@Big.test", Recipients: []string{*d.box.ReceivesAt}, Helo: "mx.test"}
		require.NoError(t, d.TooLarge(t.Context(), e, 30<<20))
		rows := d.messages()
		require.Len(t, rows, 1)
		require.Equal(t, inboundmail.OutcomeREFUSED, rows[0].Outcome)
		require.Contains(t, *rows[0].Reason, "25 MB")
		require.Equal(t, []any{"ada@big.test", int64(30 << 20), *d.box.ReceivesAt, ""}, []any{rows[0].Sender, rows[0].Size, rows[0].Recipient, rows[0].StoredAs})
		for range 25 {
			require.NoError(t, d.TooLarge(t.Context(), e, 30<<20))
		}
		require.Len(t, d.messages(), 20)
		d.Clock.SetOffset(d.Clock.Offset() + time.Hour)
		require.NoError(t, d.TooLarge(t.Context(), e, 30<<20))
		require.Len(t, d.messages(), 21)
		e.Recipients = []string{"nobody@" + domain}
		require.ErrorIs(t, d.TooLarge(t.Context(), e, 30<<20), mailbox.ErrUnknown)
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), mailbox.Delete, op.ByID{ID: d.box.ID})
		require.Empty(t, d.messages())
	})
}
