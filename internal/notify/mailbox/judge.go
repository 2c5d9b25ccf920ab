package mailbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/inboundmail"
	entmailbox "atrium/ent/mailbox"
	"atrium/ent/predicate"
	"atrium/ent/user"
	"atrium/internal/identity/account"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/inmail/reply"
	"atrium/internal/notify/inmail/sender"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

const (
	perHour     = 20        // messages of one sender; the next are held
	checkedLong = time.Hour // after which a sender who still cannot be checked is held
	maxExcerpt  = 2000      // characters that staff read of a message
	tooOften    = "Its sender has sent "
	mostReports = 20 // requests that a report of a mail that came back may name
)

// Checker says whether a message is from whom its From names.
type Checker interface {
	Check(ctx context.Context, raw []byte, from string, e sender.Envelope) sender.Verdict
	Forwarded(ctx context.Context, raw []byte, from, server string, client netip.Addr) sender.Verdict
}

// judge finds out whose a message is, and gives it its outcome unless it is to become a comment or a request. again says that the sender
// cannot be checked at the moment.
func (w *mailer) judge(ctx context.Context, m *message) (again bool, err error) {
	err = m.parse(false)
	if limit, ok := errors.AsType[*inmail.LimitError](err); ok {
		m.out = outcome{inboundmail.OutcomeREFUSED, english(limit.Text())}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("parse the message: %w", err)
	}
	ctx = principal.With(ctx, principal.Worker(m.row.CompanyID, worker))
	db := w.post.Depot.Engine.Store.Reader()
	for _, step := range []func(context.Context, *ent.Client, *message) (bool, error){w.machine, w.twice, w.genuine, w.often, w.person} {
		if again, err := step(ctx, db, m); again || err != nil || m.out.is != "" {
			return again, err
		}
	}
	return false, nil
}

// parse reads the message. ownWords leaves out of its text what it quotes between answers, or passes on.
func (m *message) parse(ownWords bool) (err error) {
	options := inmail.Options{Markers: markers, OwnWords: ownWords}
	if m.mailbox.Kind == entmailbox.KindSMTP {
		options.Sender = &m.row.MailFrom
	}
	m.mail, err = inmail.Parse(m.raw, options)
	if m.mail != nil {
		for _, text := range []*string{&m.mail.Text, &m.mail.Quoted, &m.mail.Whole} {
			*text = account.Conceal(*text)
		}
		m.name()
	}
	return err
}

// name keeps how people tell the message from others.
func (m *message) name() {
	m.row.Sender, m.row.MessageID, m.row.Subject = text.Cut(strings.ToLower(m.mail.From.Email), 320), text.Cut(m.mail.ID, 998), text.Cut(m.mail.Subject, 1000)
	excerpt, _ := split(m.mail.Text, maxExcerpt)
	m.row.Excerpt = excerpt
	if m.row.MessageID == "" {
		sum := sha256.Sum256(m.raw)
		m.row.MessageID = hex.EncodeToString(sum[:])
	}
}

// machine ends what no person has written.
func (w *mailer) machine(ctx context.Context, db *ent.Client, m *message) (bool, error) {
	from := m.row.Sender
	switch {
	case m.mail.Bounce != nil:
		m.out.is = inboundmail.OutcomeBOUNCE
		return false, w.bounced(ctx, db, m)
	case m.mail.Automatic != "" && !m.released:
		m.out = outcome{inboundmail.OutcomeLOOP, english(m.mail.Automatic.Text())}
	case from == "":
		m.out = outcome{inboundmail.OutcomeREFUSED, "It names no one author."}
	default:
		ours, err := ofMailbox(ctx, db, from)
		if err != nil {
			return false, err
		}
		if ours {
			m.out = outcome{inboundmail.OutcomeLOOP, "It comes from a mailbox of the company."}
		}
	}
	return false, nil
}

// ofMailbox reports whether a mailbox of the company has an address.
func ofMailbox(ctx context.Context, db *ent.Client, address string) (bool, error) {
	ours, err := db.Mailbox.Query().Where(entmailbox.Or(entmailbox.Address(address), entmailbox.ReceivesAt(address))).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the sender among the mailboxes: %w", err)
	}
	return ours, nil
}

// bounced finds the users to whom a mail of ours did not come. Anybody can write a report: it counts for whoever got a mail with the token
// of the address that the report was sent to.
func (w *mailer) bounced(ctx context.Context, db *ent.Client, m *message) error {
	_, token, ok := reply.Parse(m.row.Recipient)
	var emails []string
	for _, f := range m.mail.Bounce.Failed {
		if f.Permanent {
			emails = append(emails, strings.ToLower(f.Email))
		}
	}
	if !ok || len(emails) == 0 {
		return nil
	}
	users, err := db.User.Query().Where(user.EmailIn(emails[:min(len(emails), mostReports)]...)).IDs(ctx)
	if err != nil || len(users) == 0 {
		return err
	}
	key, err := replyKey(ctx, db, w.post.Depot.Engine.Sealer, m.row.CompanyID)
	if err != nil {
		return err
	}
	for _, about := range threadID.FindAllString(string(m.raw), mostReports) {
		for _, id := range users {
			if _, ok := reply.Matches(token, key, m.row.CompanyID, about, id); ok {
				m.bounced = []string{id}
				return nil
			}
		}
	}
	return nil
}

// same selects earlier messages that are this one.
func (m *message) same() predicate.InboundMail {
	return inboundmail.And(inboundmail.MessageID(m.row.MessageID), inboundmail.IDNEQ(m.row.ID), inboundmail.Or(
		inboundmail.OutcomeIn(became...),
		inboundmail.And(inboundmail.OutcomeEQ(inboundmail.OutcomeHELD), inboundmail.MailboxID(m.mailbox.ID), inboundmail.Recipient(m.row.Recipient), inboundmail.Size(m.row.Size)),
	))
}

// twice ends a message that has become something already, or waits for staff already.
func (w *mailer) twice(ctx context.Context, db *ent.Client, m *message) (bool, error) {
	if m.released {
		return false, nil // apply looks again
	}
	before, err := db.InboundMail.Query().Where(m.same()).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the same message: %w", err)
	}
	if before {
		m.out.is = inboundmail.OutcomeDUPLICATE
	}
	return false, nil
}

// often holds a message of somebody who sends too many. Those that were proven to be theirs count, which have become something or were held
// for this: others could keep a person's mail out by writing in their name.
func (w *mailer) often(ctx context.Context, db *ent.Client, m *message) (bool, error) {
	if m.released {
		return false, nil
	}
	since := m.row.CreatedAt.Add(-time.Hour)
	n, err := db.InboundMail.Query().Where(inboundmail.Sender(m.row.Sender), inboundmail.CreatedAtGT(since), inboundmail.IDNEQ(m.row.ID), inboundmail.Or(
		inboundmail.OutcomeIn(became...), inboundmail.And(inboundmail.OutcomeEQ(inboundmail.OutcomeHELD), inboundmail.ReasonHasPrefix(tooOften)),
	)).Count(ctx)
	if err != nil {
		return false, fmt.Errorf("count what the sender has sent: %w", err)
	}
	if n >= perHour {
		m.out = outcome{inboundmail.OutcomeHELD, fmt.Sprintf(tooOften+"%d messages within an hour.", n+1)}
	}
	return false, nil
}

// genuine holds a message that nothing proves to be from its sender.
func (w *mailer) genuine(ctx context.Context, _ *ent.Client, m *message) (again bool, err error) {
	if m.released {
		return false, nil
	}
	var v sender.Verdict
	client, _ := netip.ParseAddr(m.row.Peer)
	switch server := op.Or(m.mailbox.AuthservID, ""); {
	case server != "" && m.mailbox.Kind == entmailbox.KindSMTP:
		v = w.post.Sender.Forwarded(ctx, m.raw, m.mail.From.Email, server, client)
	case server != "":
		v = sender.Results(m.raw, m.mail.From.Email, server)
	default:
		v = w.post.Sender.Check(ctx, m.raw, m.mail.From.Email, sender.Envelope{Client: client, Helo: m.row.Helo, Sender: m.row.MailFrom})
	}
	if v.Temporary && w.post.Depot.Engine.Store.Clock().Now().Before(m.row.CreatedAt.Add(checkedLong)) {
		return true, nil
	}
	if !v.Aligned {
		m.out = outcome{inboundmail.OutcomeHELD, text.Cut("It is not proven to come from its sender. "+strings.Join(v.Reasons, "; "), 500)}
	}
	return false, nil
}

// person finds the member whose address the message is from, or invites its sender.
func (w *mailer) person(ctx context.Context, db *ent.Client, m *message) (bool, error) {
	u, err := db.User.Query().Where(user.Email(m.row.Sender)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return false, w.stranger(ctx, db, m)
	case err != nil:
		return false, fmt.Errorf("look for the sender: %w", err)
	case u.Status != user.StatusActive && u.Status != user.StatusInvited:
		m.out = outcome{inboundmail.OutcomeREFUSED, "Its sender is no member any more."}
	default:
		m.by = u
	}
	return false, nil
}

// stranger does with a sender who is no member what the mailbox says.
func (w *mailer) stranger(ctx context.Context, db *ent.Client, m *message) error {
	switch m.mailbox.UnknownSenders {
	case entmailbox.UnknownSendersRefuse:
		m.out = outcome{inboundmail.OutcomeREFUSED, "Its sender is no member."}
		return nil
	case entmailbox.UnknownSendersHold:
		m.out = outcome{inboundmail.OutcomeHELD, "Its sender is no member. Invite them, and release it."}
		return nil
	}
	in := people.InviteUserInput{Email: m.row.Sender}
	if name := mail.Line(m.mail.From.Name, 200); name != "" {
		in.Name = &name
	}
	err := w.post.Depot.Engine.Work(ctx, m.row.CompanyID, worker, func(ctx context.Context, tx *op.Tx) (err error) {
		m.by, err = op.RunIn(ctx, tx, people.InviteUser, in)
		return err
	})
	if err == nil || !refused(err) {
		return err
	}
	switch u, failure := db.User.Query().Where(user.Email(m.row.Sender)).Only(ctx); {
	case failure == nil:
		m.by = u // another message of theirs has invited them meanwhile
	case ent.IsNotFound(failure):
		m.out = outcome{inboundmail.OutcomeHELD, explain(err)}
	default:
		return fmt.Errorf("look for the sender: %w", failure)
	}
	return nil
}
