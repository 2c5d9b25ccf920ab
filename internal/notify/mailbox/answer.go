package mailbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/inboundmail"
	entmailbox "atrium/ent/mailbox"
	entrequest "atrium/ent/request"
	"atrium/internal/notify/inmail/reply"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
)

// replyKey returns the key of a company's answer addresses, which follows from the key of its files.
func replyKey(ctx context.Context, db *ent.Client, sealer op.Sealer, companyID string) ([]byte, error) {
	c, err := db.Company.Query().Where(company.ID(companyID)).Select(company.FieldID, company.FieldFilesKeySealed).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the company's key: %w", err)
	}
	text, err := sealer.Unseal(c.FilesKeySealed, []byte(c.ID))
	if err != nil {
		return nil, fmt.Errorf("open the company's key: %w", err)
	}
	key := sha256.Sum256(append([]byte("answer addresses: "), text...))
	return key[:], nil
}

// AnswerTo returns the address to which a person answers a mail about a request: that of the mailbox through which it came, of one of its
// offering, or of the oldest one. It is empty for a company without a mailbox that takes mail. note makes the answer a note for staff.
func AnswerTo(ctx context.Context, db *ent.Client, sealer op.Sealer, u *ent.User, requestID string, note bool) (string, error) {
	boxes, err := db.Mailbox.Query().Where(entmailbox.CompanyID(u.CompanyID), entmailbox.Enabled(true)).Order(entmailbox.ByCreatedAt(), entmailbox.ByID()).Limit(maxMailboxes).All(ctx)
	if err != nil || len(boxes) == 0 {
		return "", err
	}
	r, err := db.Request.Query().Where(entrequest.ID(requestID)).Select(entrequest.FieldID, entrequest.FieldOfferingID).Only(ctx)
	if ent.IsNotFound(err) {
		return "", nil // the thread is of something else
	}
	if err != nil {
		return "", fmt.Errorf("read the request: %w", err)
	}
	at := boxes[0]
	if len(boxes) > 1 {
		if at, err = through(ctx, db, boxes, r); err != nil {
			return "", err
		}
	}
	key, err := replyKey(ctx, db, sealer, u.CompanyID)
	if err != nil {
		return "", err
	}
	token := reply.Token
	if note {
		token = reply.NoteToken
	}
	return reply.Address(op.Or(at.ReceivesAt, at.Address), token(key, u.CompanyID, requestID, u.ID))
}

// Began returns the Message-ID of the mail by which somebody has filed a request; empty for a request that did not come by a mail of theirs.
func Began(ctx context.Context, db *ent.Client, u *ent.User, requestID string) (string, error) {
	m, err := db.InboundMail.Query().Where(
		inboundmail.CompanyID(u.CompanyID), inboundmail.RequestID(requestID), inboundmail.OutcomeEQ(inboundmail.OutcomeREQUEST), inboundmail.Sender(u.Email),
	).First(ctx)
	switch {
	case ent.IsNotFound(err) || err == nil && !mail.IsMessageID(m.MessageID):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for the mail that filed the request: %w", err)
	}
	return m.MessageID, nil
}

// through returns the one of several mailboxes through which a request came, or one of its offering, or the first.
func through(ctx context.Context, db *ent.Client, boxes []*ent.Mailbox, r *ent.Request) (*ent.Mailbox, error) {
	came, err := db.InboundMail.Query().Where(inboundmail.RequestID(r.ID), inboundmail.OutcomeEQ(inboundmail.OutcomeREQUEST)).First(ctx)
	if ent.MaskNotFound(err) != nil {
		return nil, fmt.Errorf("look for the mail that filed the request: %w", err)
	}
	at := boxes[0]
	for _, b := range slices.Backward(boxes) {
		switch {
		case came != nil && came.MailboxID == b.ID:
			return b, nil
		case b.OfferingID == r.OfferingID:
			at = b
		}
	}
	return at, nil
}
