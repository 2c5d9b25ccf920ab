package mailbox_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/inboundmail"
	"atrium/internal/notify/inmail/imap"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// mailServer is a server with one user, whose folder the test fills.
func mailServer(t *testing.T) (address string, trusted *tls.Config, user *imapmemserver.User) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	user = imapmemserver.NewUser("help@acme.test", "hunter2")
	require.NoError(t, user.Create("INBOX", nil))
	memory := imapmemserver.New()
	memory.AddUser(user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		Logger: log.New(io.Discard, "", 0), InsecureAuth: true,
	})
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		<-done
	})
	return ln.Addr().String(), &tls.Config{RootCAs: pool, ServerName: "example.com"}, user
}

type literal struct{ *strings.Reader }

// A company whose mail server is slow has one mailbox fetched at a time, and leaves places to others.
func TestFetchesAreShared(t *testing.T) {
	t.Parallel()
	p := mailbox.NewPost(mailbox.Post{})
	leave, ok := p.Fetches().TakeNow("co_slow")
	require.True(t, ok)
	defer leave()
	var later *rivertype.JobSnoozeError
	require.ErrorAs(t, p.Fetch(t.Context(), mailbox.FetchArgs{Company: "co_slow", Mailbox: "mbx_2"}), &later)
	leaveOther, ok := p.Fetches().TakeNow("co_other")
	require.True(t, ok)
	leaveOther()
}

// Mail is fetched from a mail server: each message once, those behind the last one that came, with the token that it was written to. A
// wrong password is said to admins, and the right one ends that.
func TestMailIsFetched(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		address, trusted, user := mailServer(t)
		out, err := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		require.NoError(t, err)
		w.Engine.Egress = out
		d := open(t, w, func(in *mailbox.CreateInput) {
			in.Kind, in.Server, in.Password = new("imap"), &address, new(secret.Value("wrong"))
		})
		d.Dial, d.TLS = (&net.Dialer{}).DialContext, trusted
		d.work()
		who := w.A.Users[principal.Member]
		put := func(m mail) {
			t.Helper()
			_, err := user.Append("INBOX", &literal{strings.NewReader(m.String())}, &goimap.AppendOptions{})
			require.NoError(t, err)
		}
		put(mail{from: who.Email, to: d.box.Address, id: "1@x", subject: "First", body: "Hello."})
		put(mail{from: who.Email, to: d.box.Address, id: "2@x", subject: "Second", body: "Hello."})
		owner := w.As(w.A, principal.Owner)
		box := func() *ent.Mailbox {
			return testkit.Run(t, w, owner, mailbox.Get, op.ByID{ID: d.box.ID})
		}
		require.Eventually(t, func() bool { return box().Fault != nil }, patience, tick)
		require.Equal(t, "The mail server refuses the username or the password.", *box().Fault)
		testkit.Run(t, w, owner, mailbox.Update, mailbox.UpdateInput{ByID: op.ByID{ID: d.box.ID}, Password: new(secret.Value("hunter2"))})
		d.fetch()
		r := d.came("1@x", inboundmail.OutcomeREQUEST)
		d.came("2@x", inboundmail.OutcomeREQUEST)
		require.Nil(t, box().Fault)
		require.Eventually(t, func() bool { return box().FetchedAt != nil }, patience, tick)

		put(mail{from: who.Email, to: "Desk <" + d.answerTo(who, *r.RequestID) + ">", id: "3@x", subject: "Hm", body: "More."})
		d.fetch()
		require.Equal(t, *r.RequestID, *d.came("3@x", inboundmail.OutcomeCOMMENT).RequestID)
		require.Len(t, d.messages(), 3)

		// The password that is kept goes to no other server.
		change := func(in mailbox.UpdateInput) error {
			in.ByID = op.ByID{ID: d.box.ID}
			_, _, err := op.Run(owner, w.Engine, mailbox.Update, in, nil)
			return err
		}
		refused := apperr.From(change(mailbox.UpdateInput{Server: op.SetTo("elsewhere.test:993")}))
		require.Len(t, refused.Details, 1)
		require.Equal(t, "password", refused.Details[0].Field)
		require.NoError(t, change(mailbox.UpdateInput{Server: op.SetTo(address)}), "the same server")

		// The folder of another user is read from its beginning, whatever a fetch of the one before still keeps.
		before := box()
		require.NotZero(t, before.FetchedUID)
		require.NoError(t, change(mailbox.UpdateInput{Username: op.SetTo("somebody")}))
		err = w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			return mailbox.Moved(ctx, tx, before, imap.Cursor{Validity: 1, UID: 9})
		})
		require.ErrorIs(t, err, mailbox.ErrChanged)
		require.Zero(t, box().FetchedUID)
	})
}

// fetch has a node fetch the mail of the mailbox, once it has ended what it does: there is one job of a mailbox at a time.
func (d *desk) fetch() {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		n, err := d.World.Queue.Due(d.t.Context())
		return err == nil && n == 0
	}, patience, tick)
	err := d.Store.Write(principal.System(d.t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return d.World.Queue.InsertTx(ctx, tx, mailbox.FetchArgs{Company: d.A.Company.ID, Mailbox: d.box.ID}, time.Time{})
	})
	require.NoError(d.t, err)
}
