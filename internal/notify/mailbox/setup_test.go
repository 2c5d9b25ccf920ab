package mailbox_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/inboundmail"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/inmail/listener"
	"atrium/internal/notify/inmail/sender"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long tests wait for the worker, and how often they look.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

const domain = "mail.atrium.test"

// dns vouches for every sender but those of forged.test.
type dns struct {
	mu     sync.Mutex
	down   bool
	proven bool // every sender
	asked  int
	slow   chan struct{} // answers for senders that begin with slow- come once it is closed

	waiting atomic.Int32 // for them
}

func (d *dns) Check(_ context.Context, _ []byte, from string, _ sender.Envelope) sender.Verdict {
	if strings.HasPrefix(from, "slow-") {
		d.waiting.Add(1)
		<-d.slow
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	switch {
	case d.down:
		return sender.Verdict{Temporary: true, Reasons: []string{"dns: timeout"}}
	case d.proven:
	case strings.HasSuffix(from, "@forged.test") || strings.HasPrefix(from, "forged-"):
		return sender.Verdict{Reasons: []string{"dkim: no signature"}}
	}
	return sender.Verdict{Aligned: true, By: "dkim"}
}

// Forwarded knows no server.
func (d *dns) Forwarded(ctx context.Context, raw []byte, from, server string, client netip.Addr) sender.Verdict {
	return sender.Checker{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}}}.Forwarded(ctx, raw, from, server, client)
}

// desk is a company with a mailbox whose mail is worked.
type desk struct {
	*testkit.World
	*mailbox.Post
	t        *testing.T
	dns      *dns
	offering *ent.Offering
	box      *ent.Mailbox
}

// post returns what takes and works mail, with files in a folder.
func post(e *op.Engine, q *jobs.Queue, dir string) *mailbox.Post {
	depot := attachment.NewDepot(attachment.Depot{Engine: e, Files: files.NewFolder(filepath.Join(dir, "files")), Spool: filepath.Join(dir, "uploads"), Log: e.Log})
	return mailbox.NewPost(mailbox.Post{Depot: depot, Sender: &dns{}, Queue: q, Bytes: ratelimit.NewBytes(ratelimit.NewMemory()), Again: 20 * time.Millisecond})
}

// open makes a desk whose mail nobody works yet.
func open(t *testing.T, w *testkit.World, more ...func(*mailbox.CreateInput)) *desk {
	t.Helper()
	w.Engine.MailDomain = domain
	d := &desk{World: w, Post: post(w.Engine, w.Queue, t.TempDir()), t: t, dns: &dns{}}
	d.Sender = d.dns
	owner := w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	d.offering = testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Help"})
	in := mailbox.CreateInput{Address: "Help@Acme.test", OfferingID: d.offering.ID}
	for _, change := range more {
		change(&in)
	}
	d.box = testkit.Run(t, w, owner, mailbox.Create, in).Mailbox
	return d
}

// work makes a node work the mail until the test ends.
func (d *desk) work() {
	d.t.Helper()
	d.WorkJobs(d.t, d.Work())
}

// each runs the test on both databases, with a node that works the mail.
func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		d.work()
		test(t, d)
	})
}

// mail is a message as somebody's program writes it.
type mail struct {
	from, id, subject, refs, to string
	header, body                string // more of the header, and the text
}

func (m mail) String() string {
	out := fmt.Sprintf("From: %s\r\nTo: %s\r\nMessage-ID: <%s>\r\nSubject: %s\r\nDate: Mon, 30 Nov 2026 10:00:00 +0000\r\n", m.from, m.to, m.id, m.subject)
	if m.refs != "" {
		out += "In-Reply-To: <" + m.refs + ">\r\nReferences: <" + m.refs + ">\r\n"
	}
	return out + m.header + "\r\n" + m.body + "\r\n"
}

// send has the listener take a message, to the mailbox or to an address with a token.
func (d *desk) send(m mail, to ...string) error {
	if len(to) == 0 {
		to = []string{*d.box.ReceivesAt}
	}
	return d.Take(d.t.Context(), listener.Envelope{Sender: m.from, Recipients: to, Helo: "mx.test"}, strings.NewReader(m.String()))
}

// came waits until a message with this id has an outcome.
func (d *desk) came(id string, outcome inboundmail.Outcome) *ent.InboundMail {
	d.t.Helper()
	var last *ent.InboundMail
	require.Eventually(d.t, func() bool {
		for _, m := range d.messages() {
			if m.MessageID == id && m.Outcome != inboundmail.OutcomeRECEIVED {
				last = m
				return true
			}
		}
		return false
	}, patience, tick, id)
	require.Equal(d.t, outcome, last.Outcome, "%v", last.Reason)
	return last
}

// messages returns what staff see, the newest first.
func (d *desk) messages() []*ent.InboundMail {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, principal.Agent), mailbox.ListMessages, mailbox.ListMessagesInput{Page: paging.Page{Size: 100}}).Rows
}

func (d *desk) request(id string) *ent.Request {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, principal.Owner), request.Get, op.ByID{ID: id})
}

// comments returns those of a request, the oldest first.
func (d *desk) comments(id string) []*ent.Comment {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, principal.Owner), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: id}}).Rows
}

// answerTo returns the address at which somebody answers mails about a request.
func (d *desk) answerTo(u *ent.User, requestID string) string {
	d.t.Helper()
	at, err := mailbox.AnswerTo(d.AsUser(u), d.Store.Reader(), d.Engine.Sealer, u, requestID, false)
	require.NoError(d.t, err)
	return at
}
