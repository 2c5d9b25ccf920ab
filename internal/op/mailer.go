package op

import (
	"context"

	"atrium/ent"
	"atrium/internal/store"
)

// Mailer tells people by mail what operations did, in their transactions. Package account has the one that ships; op
// stands below it, and so names only what it needs.
type Mailer interface {
	// Invite mails the invited user a link that lets it in. Links that were mailed before are dead.
	Invite(ctx context.Context, tx *store.Tx, u *ent.User) error
	// Notify tells a person of something that happened to its account; kind is one of account's.
	Notify(ctx context.Context, tx *store.Tx, accountID, kind string) error
	// Write mails these paragraphs to a user. Texts of other people go through mail.Line first.
	Write(ctx context.Context, tx *store.Tx, u *ent.User, subject string, paragraphs ...string) error
	// Tell mails these paragraphs to a user, who can switch mails of the kind off by them. Texts of other people go through
	// mail.Line first.
	Tell(ctx context.Context, tx *store.Tx, u *ent.User, kind, subject string, paragraphs ...string) error
}

// Mail has something mailed in the operation's transaction. An engine without a mailer, as tests have, mails nothing.
func (tx *Tx) Mail(send func(m Mailer, db *store.Tx) error) error {
	if tx.engine.Mailer == nil {
		return nil
	}
	return send(tx.engine.Mailer, tx.db)
}
