package mailbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/inboundmail"
	"atrium/ent/mailbox"
	"atrium/internal/desk/attachment"
	"atrium/internal/gate"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/inmail/listener"
	"atrium/internal/notify/inmail/reply"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/share"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// Post takes messages and works them. Safe for concurrent use.
type Post struct {
	Depot  *attachment.Depot
	Sender Checker
	Queue  *jobs.Queue
	Bytes  *ratelimit.Bytes // limits what a company takes in
	// Dial connects to the mail servers that companies name, and refuses addresses that they must not reach; TLS verifies them.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	TLS  *tls.Config
	// Again is how long a message waits at least whose company's places are taken; 5 s if 0.
	Again time.Duration

	hooks          *share.Places
	works, fetches *jobs.Places
}

// The places of a node for the calls of mail providers, each of which holds a message in memory.
const (
	hooksAtOnce = 4
	hooksOfOne  = 2
)

// NewPost returns a post.
func NewPost(p Post) *Post {
	p.hooks = share.New(hooksAtOnce, hooksOfOne)
	p.works, p.fetches = jobs.NewPlaces(atOnce, ofOne, cmp.Or(p.Again, nextTry)), jobs.NewPlaces(fetchedAtOnce, fetchedOfOne, fetchTurn)
	return &p
}

// ErrUnknown is returned for a recipient that is no mailbox's.
var ErrUnknown = errors.New("mailbox: nobody has this address")

// Known reports whether an address, with or without a token, is one of a mailbox that takes mail.
func (p *Post) Known(ctx context.Context, recipient string) (bool, error) {
	_, err := p.of(ctx, recipient)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	return err == nil, err
}

// of returns the mailbox of an address at this server.
func (p *Post) of(ctx context.Context, recipient string) (*ent.Mailbox, error) {
	at, _, _ := reply.Parse(recipient)
	ctx = principal.System(ctx, "a mail says by its address whose it is")
	m, err := p.Depot.Engine.Store.Reader().Mailbox.Query().Where(mailbox.ReceivesAt(at), mailbox.Enabled(true)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("look the mailbox up: %w", err)
	}
	return m, nil
}

// Take stores a message for each of its recipients, with the job that works it. Once it returns nil, nothing is lost.
func (p *Post) Take(ctx context.Context, e listener.Envelope, mail io.Reader) (err error) {
	var taken []received
	defer func() { p.discard(ctx, err, taken) }()
	for i, recipient := range e.Recipients {
		m, err := p.of(ctx, recipient)
		if err != nil {
			return err
		}
		if i > 0 {
			f, err := p.Depot.Stored(ctx, taken[0].mailbox.CompanyID, taken[0].storedAs)
			if err != nil {
				return err
			}
			mail = io.NewSectionReader(f, 0, f.Size)
			defer f.Close() //nolint:errcheck // only read
		}
		r, err := p.store(ctx, m, recipient, mail)
		if err != nil {
			return err
		}
		r.envelope = e
		taken = append(taken, r)
	}
	return p.keep(ctx, nil, taken...)
}

// received is a message for one recipient.
type received struct {
	mailbox             *ent.Mailbox
	recipient, storedAs string // stored as nothing: it is larger than a mail may be, or refused
	refused             string // why; empty for one that is too large
	size                int64
	envelope            listener.Envelope
	id                  string // of its row; empty for one to be made
	vouched             bool   // its sender is not checked
}

// store stores the bytes of a message that came for a mailbox. Nothing is left of one that is refused.
func (p *Post) store(ctx context.Context, m *ent.Mailbox, recipient string, mail io.Reader) (received, error) {
	s, storedAs, err := p.Depot.Keep(ctx, m.CompanyID, mail, inmail.MaxSize)
	if err != nil {
		return received{}, err
	}
	r := received{mailbox: m, recipient: strings.ToLower(recipient), storedAs: storedAs, size: s.Size}
	err = p.count(ctx, m.CompanyID, s.Size)
	p.discard(ctx, err, []received{r})
	return r, err
}

// The most refusals of mails for their size that are noted of a mailbox within an hour.
const refusalsPerHour = 20

// TooLarge notes for each recipient that a mail of a size in bytes was refused for it, whose bytes nobody keeps. What comes more often than
// refusalsPerHour is not noted.
func (p *Post) TooLarge(ctx context.Context, e listener.Envelope, size int64) error {
	var refused []received
	for _, recipient := range e.Recipients {
		m, err := p.of(ctx, recipient)
		if err != nil {
			return err
		}
		n, err := p.Depot.Engine.Store.Reader().InboundMail.Query().Where(
			inboundmail.MailboxID(m.ID), inboundmail.CreatedAtGT(p.Depot.Engine.Store.Clock().Now().Add(-time.Hour)),
			inboundmail.OutcomeEQ(inboundmail.OutcomeREFUSED), inboundmail.StoredAs(""),
		).Count(principal.With(ctx, principal.Worker(m.CompanyID, worker)))
		if err != nil {
			return fmt.Errorf("count what was refused: %w", err)
		}
		if n < refusalsPerHour {
			refused = append(refused, received{mailbox: m, recipient: strings.ToLower(recipient), size: size, envelope: e})
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return p.keep(ctx, nil, refused...)
}

// discard removes the bytes of messages that came in vain, because of an error.
func (p *Post) discard(ctx context.Context, err error, taken []received) {
	if err == nil {
		return
	}
	for _, r := range taken {
		p.Depot.Discard(ctx, r.storedAs)
	}
}

// count returns rate_limit_exceeded when the company has taken in as many bytes as its plan allows.
func (p *Post) count(ctx context.Context, companyID string, bytes int64) error {
	return gate.BytesTaken(p.Bytes.Take(ctx, companyID, int(bytes), p.Depot.Engine.Store.Clock().Now(), func(ctx context.Context) (ratelimit.Limit, error) {
		c, err := p.Depot.Engine.Store.Reader().Company.Get(principal.System(ctx, "the limits of a mailbox's company"), companyID)
		if err != nil {
			return ratelimit.Limit{}, fmt.Errorf("read the mailbox's company: %w", err)
		}
		return ratelimit.OfCompany(c), nil
	}))
}

// keep writes the rows of stored messages, with the jobs that work them, and whatever belongs into the same transaction.
func (p *Post) keep(ctx context.Context, also func(context.Context, *store.Tx) error, taken ...received) error {
	err := p.Depot.Engine.Store.Write(principal.System(ctx, "mail comes from outside"), func(ctx context.Context, tx *store.Tx) error {
		for _, r := range taken {
			if err := p.note(ctx, tx, r); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("keep the message: %w", err)
	}
	return nil
}

func (p *Post) note(ctx context.Context, tx *store.Tx, r received) error {
	e := r.envelope
	c := tx.InboundMail.Create().SetCompanyID(r.mailbox.CompanyID).SetMailboxID(r.mailbox.ID).SetRecipient(text.Cut(r.recipient, 320)).SetSize(r.size).
		SetStoredAs(r.storedAs).SetHelo(text.Cut(e.Helo, 255)).SetMailFrom(text.Cut(e.Sender, 320))
	if e.Client.IsValid() {
		c.SetPeer(e.Client.String())
	}
	if r.id != "" {
		c.SetID(r.id)
	}
	if r.storedAs == "" {
		reason := r.refused
		if reason == "" {
			reason = english((&inmail.LimitError{Limit: inmail.LimitSize}).Text())
		}
		return c.SetOutcome(inboundmail.OutcomeREFUSED).SetReason(reason).SetSender(text.Cut(strings.ToLower(e.Sender), 320)).Exec(ctx)
	}
	row, err := c.Save(ctx)
	if err != nil {
		return err
	}
	return p.Queue.InsertTx(ctx, tx, Args{Company: row.CompanyID, ID: row.ID, Released: r.vouched}, time.Time{})
}

// DeliverFile keeps a message for the mailboxes to which it is written: by the addresses given, or by those in it. vouched says that its
// sender is who it says. Returns the ids of the kept messages; none if it is written to no mailbox.
func (p *Post) DeliverFile(ctx context.Context, raw []byte, to []string, vouched bool) (ids []string, err error) {
	from, written := envelopeOf(raw)
	if len(to) == 0 {
		to = written
	}
	var taken []received
	defer func() { p.discard(ctx, err, taken) }()
	for _, address := range to {
		at, _, _ := reply.Parse(address)
		boxes, err := p.Depot.Engine.Store.Reader().Mailbox.Query().Where(mailbox.Or(mailbox.ReceivesAt(at), mailbox.Address(at)), mailbox.Enabled(true)).
			All(principal.System(ctx, "a mail says by its address whose it is"))
		if err != nil {
			return nil, fmt.Errorf("look for the mailboxes: %w", err)
		}
		for _, m := range boxes {
			r, err := p.store(ctx, m, address, bytes.NewReader(raw))
			if err != nil {
				return nil, err
			}
			r.id, r.vouched, r.envelope.Sender = id.New("eml"), vouched, from
			taken, ids = append(taken, r), append(ids, r.id)
		}
	}
	return ids, p.keep(ctx, nil, taken...)
}

// envelopeOf returns from whom a message is, and to which addresses it is written, as it says.
func envelopeOf(raw []byte) (from string, to []string) {
	mail, err := inmail.Parse(raw, inmail.Options{})
	if err != nil && mail == nil {
		return "", nil
	}
	to = mail.DeliveredTo
	for _, a := range slices.Concat(mail.To, mail.Cc) {
		to = append(to, a.Email)
	}
	return mail.From.Email, to
}

// deliver stores a message that a mailbox of another kind than smtp has got.
func (p *Post) deliver(ctx context.Context, m *ent.Mailbox, raw []byte, also func(context.Context, *store.Tx) error) error {
	r, err := p.store(ctx, m, addressed(m, raw), bytes.NewReader(raw))
	if err != nil {
		return err
	}
	err = p.keep(ctx, also, r)
	p.discard(ctx, err, []received{r})
	return err
}

// addressed returns to which address of a mailbox a message was written: one with a token, or the mailbox's own.
func addressed(m *ent.Mailbox, raw []byte) string {
	_, to := envelopeOf(raw)
	for _, a := range to {
		if of, _, tokened := reply.Parse(a); tokened && of == m.Address {
			return a
		}
	}
	return m.Address
}
