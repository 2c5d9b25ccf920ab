package imap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"atrium/internal/notify/inmail"
)

// Bounds of one call.
const (
	maxMails  = 50
	maxTime   = 5 * time.Minute
	maxAnswer = 256 << 10 // bytes that an answer may have besides a mail
)

// Account is a mailbox on another server.
type Account struct {
	Address        string // host:port; TLS from the start, usually port 993
	User, Password string
	Folder         string // such as INBOX
	// Dial connects. It refuses addresses that a customer must not reach.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	TLS  *tls.Config // what verifies the certificate; the server's name is that of Address unless it is set
}

// Cursor is a place in a folder: all mails up to UID were fetched. The zero value is the beginning: all mails that are not seen.
type Cursor struct{ Validity, UID uint32 }

// Mail is a fetched mail.
type Mail struct {
	Cursor Cursor // the place behind it, to be kept with it
	Size   int64  // bytes, as the server says; more than inmail.MaxSize for one that turned out to be larger
	Raw    []byte // nil if Size exceeds inmail.MaxSize, or if the server sends no content
}

// ErrConnect and ErrTLS are in the errors of a server that cannot be reached, and of one that is not who its address says.
var (
	ErrConnect = errors.New("imap: connect")
	ErrTLS     = errors.New("imap: TLS")
)

// ErrLogin is in the error of an account that the server does not let in: to try again does not help.
var ErrLogin = errors.New("imap: the server refuses user and password")

// Fetch passes the mails behind the cursor to keep, the oldest first, at most 50. Each is marked as seen when keep has returned nil, and
// the first error of keep ends the call, as does a mail that is larger than a mail may be although the server announced less: that one is
// kept without its content and not marked. more says that there are others. If the folder was made anew since (another validity), it begins
// with what is not seen. Its errors contain nothing of what the server wrote but codes, and no password.
func (a Account) Fetch(ctx context.Context, after Cursor, keep func(context.Context, Mail) error) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	conn, err := a.connect(ctx)
	if err != nil {
		return false, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	client := imapclient.New(conn, nil)
	defer client.Close() //nolint:errcheck // what was kept is kept
	b := box{client: client, conn: conn}
	if err := b.enter(a); err != nil {
		return false, err
	}
	uids, more, err := b.waiting(a.Folder, after)
	if err != nil {
		return false, err
	}
	for _, uid := range uids {
		switch err := b.pass(ctx, uid, keep); {
		case errors.Is(err, errEnded):
			return true, nil
		case err != nil:
			return true, err
		}
	}
	conn.allow(maxAnswer)
	_ = client.Logout().Wait() // a courtesy
	return more, nil
}

// connect dials and does the handshake.
func (a Account) connect(ctx context.Context) (*metered, error) {
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return nil, errors.New("imap: the address must be host:port")
	}
	plain, err := a.Dial(ctx, "tcp", a.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLS != nil {
		config = a.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	secure := tls.Client(plain, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLS, errors.Join(err, plain.Close()))
	}
	m := &metered{Conn: secure}
	m.allow(maxAnswer) // go-imap reads the greeting as soon as it has the connection
	return m, nil
}

// box is a folder of a server to which the client is connected.
type box struct {
	client   *imapclient.Client
	conn     *metered
	validity uint32
}

func (b *box) enter(a Account) error {
	if err := b.client.WaitGreeting(); err != nil {
		return coded("greeting", err)
	}
	b.conn.allow(maxAnswer)
	if err := b.client.Login(a.User, a.Password).Wait(); err != nil {
		if refused, ok := errors.AsType[*goimap.Error](err); ok && refused.Type == goimap.StatusResponseTypeNo && refused.Code != goimap.ResponseCodeUnavailable {
			return errors.Join(ErrLogin, coded("login", err))
		}
		return coded("login", err)
	}
	return nil
}

// waiting returns the mails to fetch, the oldest first, and whether there are more.
func (b *box) waiting(folder string, after Cursor) (uids []goimap.UID, more bool, err error) {
	b.conn.allow(maxAnswer)
	selected, err := b.client.Select(folder, nil).Wait()
	if err != nil {
		return nil, false, coded("select", err)
	}
	b.validity = selected.UIDValidity
	criteria := &goimap.SearchCriteria{NotFlag: []goimap.Flag{goimap.FlagSeen}}
	from := goimap.UID(1)
	if after.Validity == b.validity && after.UID > 0 {
		from = goimap.UID(after.UID) + 1
		criteria = &goimap.SearchCriteria{UID: []goimap.UIDSet{{goimap.UIDRange{Start: from, Stop: 0}}}}
	}
	if from == 0 { // behind the last there can be
		return nil, false, nil
	}
	b.conn.allow(maxAnswer)
	found, err := b.client.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, false, coded("search", err)
	}
	set, _ := found.All.(goimap.UIDSet)
	for _, r := range set {
		for uid := max(r.Start, from); uid >= r.Start && uid <= r.Stop && uid != 0; uid++ {
			if len(uids) == maxMails {
				return uids, true, nil
			}
			uids = append(uids, uid)
		}
	}
	return uids, false, nil
}

// pass fetches a mail, has it kept and marks it.
func (b *box) pass(ctx context.Context, uid goimap.UID, keep func(context.Context, Mail) error) error {
	one := goimap.UIDSetNum(uid)
	b.conn.allow(maxAnswer)
	sizes, err := b.client.Fetch(one, &goimap.FetchOptions{RFC822Size: true}).Collect()
	if err != nil {
		return coded("size", err)
	}
	if len(sizes) == 0 {
		return nil // somebody has deleted it
	}
	m := Mail{Cursor: Cursor{Validity: b.validity, UID: uint32(uid)}, Size: sizes[0].RFC822Size}
	var ends error
	if m.Size <= inmail.MaxSize {
		var there bool
		m.Raw, there, err = b.read(one)
		switch {
		case errors.Is(err, errTooMuch):
			m.Size, ends = inmail.MaxSize+1, errEnded
		case err != nil:
			return err
		case !there:
			return nil // deleted at this moment
		}
	}
	if err := keep(ctx, m); err != nil {
		return err
	}
	if ends != nil {
		return ends
	}
	b.conn.allow(maxAnswer)
	seen := &goimap.StoreFlags{Op: goimap.StoreFlagsAdd, Silent: true, Flags: []goimap.Flag{goimap.FlagSeen}}
	if err := b.client.Store(one, seen, nil).Close(); err != nil {
		return coded("mark as seen", err)
	}
	return nil
}

// read returns the bytes of a mail, whatever size the server announced; nil if the server sends none. there is false for a mail that is gone.
func (b *box) read(one goimap.UIDSet) (raw []byte, there bool, err error) {
	b.conn.allow(maxAnswer + inmail.MaxSize)
	whole := &goimap.FetchItemBodySection{Peek: true}
	mails, err := b.client.Fetch(one, &goimap.FetchOptions{BodySection: []*goimap.FetchItemBodySection{whole}}).Collect()
	if err != nil {
		return nil, false, coded("fetch", err)
	}
	if len(mails) == 0 {
		return nil, false, nil
	}
	raw = mails[0].FindBodySection(whole)
	if len(raw) > inmail.MaxSize {
		return nil, true, errTooMuch
	}
	return raw, true, nil
}

// coded returns an error with what failed and the code of the answer, but nothing that the server wrote itself.
func coded(what string, err error) error {
	if e, ok := errors.AsType[*goimap.Error](err); ok {
		return fmt.Errorf("imap: %s: answered with %s %s", what, e.Type, e.Code)
	}
	if errors.Is(err, errTooMuch) {
		return fmt.Errorf("imap: %s: %w", what, errTooMuch)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("imap: %s: %w", what, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("imap: %s: the answer was not understood", what)
}

// errEnded ends a call whose connection is of no use any more, although the mail was kept.
var errEnded = errors.New("imap: the connection has ended")

// errTooMuch ends a connection whose server writes more than it was asked for.
var errTooMuch = errors.New("the server sends more than it was asked for")

// metered is a connection on which a number of bytes may come. go-imap reads strings of any length.
type metered struct {
	net.Conn
	left atomic.Int64
}

// allow sets how many bytes may come from now on.
func (m *metered) allow(n int64) { m.left.Store(n) }

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if m.left.Add(int64(-n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}
