package mailbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

var messageSorts = op.Sorts{"createdAt": inboundmail.FieldCreatedAt, "updatedAt": inboundmail.FieldUpdatedAt}

// The operations on messages. Staff see what came and what became of it; the raw message is never shown.
var (
	ListMessages = op.New("inboundmail.list", op.Spec{
		Resource: "InboundMail", Action: op.Read, AdminLayer: true, Sorts: messageSorts, Summary: "List the messages that came by mail",
	}, listMessages)

	GetMessage = op.OnRow("inboundmail.read", op.Spec{
		Resource: "InboundMail", Action: op.Read, AdminLayer: true, Summary: "Get a message that came by mail",
	}, loadMessage, func(ctx context.Context, tx *op.Tx, m *ent.InboundMail, _ op.ByID) (*ent.InboundMail, error) {
		return m, conceal(ctx, tx, m)
	})

	Release = op.OnRow("inboundmail.release", op.Spec{
		Resource: "InboundMail", Action: op.Update, AdminLayer: true,
		Summary: "Vouch for the sender of a message that is held, or for one that a program sent: it is worked again",
	}, loadMessage, release)

	Refuse = op.OnRow("inboundmail.refuse", op.Spec{
		Resource: "InboundMail", Action: op.Update, AdminLayer: true, Past: map[string]string{"inboundmail.refuse": "inboundmail.refused"},
		Summary: "Refuse a message that is held",
	}, loadMessage, refuse)
)

// ListMessagesInput selects a page of messages.
type ListMessagesInput struct {
	paging.Page
	MailboxID string   `json:"-" query:"mailboxId" maxLength:"64" doc:"Those that came to it."`
	Outcome   []string `json:"-" query:"outcome" enum:"RECEIVED,COMMENT,REQUEST,HELD,REFUSED,LOOP,DUPLICATE,BOUNCE" doc:"What became of them."`
}

func listMessages(ctx context.Context, tx *op.Tx, in ListMessagesInput) (paging.List[*ent.InboundMail], error) {
	q := tx.InboundMail.Query()
	if in.MailboxID != "" {
		q.Where(inboundmail.MailboxID(in.MailboxID))
	}
	if len(in.Outcome) > 0 {
		q.Where(paging.In(nil, in.Outcome, inboundmail.OutcomeIn)...)
	}
	out, err := paging.Of(ctx, in.Page, messageSorts, q)
	if err != nil {
		return out, err
	}
	return out, conceal(ctx, tx, out.Rows...)
}

// conceal takes out what messages say, and who wrote them, where access policies hide from the caller what became of them.
func conceal(ctx context.Context, tx *op.Tx, rows ...*ent.InboundMail) error {
	var requests, comments []string
	for _, m := range rows {
		if m.RequestID != nil {
			requests = append(requests, *m.RequestID)
		}
		if m.CommentID != nil {
			comments = append(comments, *m.CommentID)
		}
	}
	var seen []string
	for _, read := range []struct {
		ids []string
		ask func() ([]string, error)
	}{
		{requests, func() ([]string, error) { return tx.Request.Query().Where(request.IDIn(requests...)).IDs(ctx) }},
		{comments, func() ([]string, error) { return tx.Comment.Query().Where(comment.IDIn(comments...)).IDs(ctx) }},
	} {
		if len(read.ids) == 0 {
			continue
		}
		ids, err := read.ask()
		if err != nil {
			return fmt.Errorf("look up what became of the messages: %w", err)
		}
		seen = append(seen, ids...)
	}
	hidden := func(id *string) bool { return id != nil && !slices.Contains(seen, *id) }
	for _, m := range rows {
		if hidden(m.RequestID) || hidden(m.CommentID) {
			m.Sender, m.Subject, m.Excerpt, m.Reason = "", "", "", nil // a reason may name files of the message
		}
	}
	return nil
}

func loadMessage(ctx context.Context, tx *op.Tx, id string) (*ent.InboundMail, error) {
	return op.Lock(tx, tx.InboundMail.Query().Where(inboundmail.ID(id))).Only(ctx)
}

// held returns conflict for a message that does not wait for staff.
func held(m *ent.InboundMail) error {
	if m.Outcome != inboundmail.OutcomeHELD || m.StoredAs == "" {
		return apperr.New(apperr.Conflict, "The message is not held, or is kept no more.")
	}
	return nil
}

func release(ctx context.Context, tx *op.Tx, m *ent.InboundMail, _ op.ByID) (*ent.InboundMail, error) {
	if m.Outcome != inboundmail.OutcomeLOOP || m.StoredAs == "" {
		if err := held(m); err != nil {
			return nil, err
		}
	}
	ours, err := ofMailbox(ctx, tx.Client, m.Sender)
	switch {
	case err != nil:
		return nil, err
	case ours:
		return nil, apperr.New(apperr.Conflict, "The message comes from a mailbox of the company, which would answer itself.")
	}
	return m, tx.Insert(ctx, Args{Company: m.CompanyID, ID: m.ID, Released: true}, time.Time{})
}

func refuse(ctx context.Context, tx *op.Tx, m *ent.InboundMail, _ op.ByID) (*ent.InboundMail, error) {
	if err := held(m); err != nil {
		return nil, err
	}
	after, err := m.Update().SetOutcome(inboundmail.OutcomeREFUSED).SetReason("Staff refused it.").Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("refuse the message: %w", err)
	}
	tx.ChangedField("outcome", m.Outcome, after.Outcome)
	return after, nil
}
