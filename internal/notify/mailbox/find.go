package mailbox

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"atrium/ent"
	"atrium/ent/inboundmail"
	"atrium/ent/predicate"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/participant"
	"atrium/internal/notify/inmail/reply"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/principal"
)

// lookedThrough is among how many of a sender's requests, the newest ones, the one of a token is looked for.
const lookedThrough = 500

var (
	threadID = regexp.MustCompile(`\breq_[0-9a-z]{26}\b`)
	noteID   = regexp.MustCompile(`^req_[0-9a-z]{26}` + regexp.QuoteMeta(mail.NoteThread) + `@`)
	numbered = regexp.MustCompile(`#([0-9]{1,12})\b`)
)

// named selects the requests that a message names: by its references to a mail of ours, or by #1042 in its subject. It notes whether the
// mail is one whose answer is a note for staff.
func (m *message) named() (where []predicate.Request) {
	for _, ref := range slices.Concat(m.mail.References, m.mail.InReplyTo) {
		m.note = m.note || noteID.MatchString(ref)
		if id := threadID.FindString(ref); id != "" {
			where = append(where, entrequest.ID(id))
		}
	}
	if n := numbered.FindStringSubmatch(m.mail.Subject); n != nil {
		if number, err := strconv.ParseInt(n[1], 10, 64); err == nil {
			where = append(where, entrequest.Number(number))
		}
	}
	return where
}

// takesPart selects the requests in which somebody takes part.
func takesPart(userID string) predicate.Request {
	return entrequest.Or(participant.Mine(userID), participant.Has(userID), participant.Watches(userID), entrequest.AssigneeID(userID))
}

// find returns the request that a message answers; nil if it answers none. It holds a message with the token of somebody else.
func (w *mailer) find(ctx context.Context, m *message) (*ent.Request, error) {
	ctx = principal.With(ctx, principal.Worker(m.row.CompanyID, worker))
	q := w.post.Depot.Engine.Store.Reader().Request.Query
	where := m.named()
	var rows []*ent.Request
	var err error
	if len(where) > 0 {
		if rows, err = q().Where(entrequest.Or(where...)).Limit(len(where)).All(ctx); err != nil {
			return nil, fmt.Errorf("look for the request: %w", err)
		}
	}
	if _, token, ok := reply.Parse(m.row.Recipient); ok {
		r, err := w.tokened(ctx, m, token, rows)
		if r != nil || err != nil || !m.released {
			return r, err
		}
	}
	for _, r := range rows {
		part, err := q().Where(entrequest.ID(r.ID), takesPart(m.by.ID)).Exist(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the sender's part: %w", err)
		}
		if part {
			return r, nil
		}
	}
	return nil, nil
}

// tokened returns the request for which the sender's token is: one that the message names, or another one of theirs.
func (w *mailer) tokened(ctx context.Context, m *message, token string, rows []*ent.Request) (*ent.Request, error) {
	e := w.post.Depot.Engine
	key, err := replyKey(ctx, e.Store.Reader(), e.Sealer, m.row.CompanyID)
	if err != nil {
		return nil, err
	}
	theirs, err := e.Store.Reader().Request.Query().Where(takesPart(m.by.ID)).Order(ent.Desc(entrequest.FieldID)).Limit(lookedThrough).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the sender's requests: %w", err)
	}
	for _, r := range slices.Concat(rows, theirs) {
		if note, ok := reply.Matches(token, key, r.CompanyID, r.ID, m.by.ID); ok {
			m.note = m.note || note
			return r, nil
		}
	}
	if m.released {
		return nil, nil // staff know whose it is: it goes where it would go without a token
	}
	m.out.is, m.out.reason = inboundmail.OutcomeHELD, "It answers a mail that was sent to somebody else."
	return nil, nil
}
