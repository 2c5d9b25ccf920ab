package op

import (
	"context"

	"atrium/ent"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// Mailer mails people about what operations did, in the operations' transactions. Package account implements it. op may not
// import account, so this interface names only what op needs.
type Mailer interface {
	// Invite mails the invited user a link for joining. Links that were mailed before stop working.
	Invite(ctx context.Context, tx *store.Tx, u *ent.User) error
	// Notify tells a person about something that happened to the person's account; kind is one of account's.
	Notify(ctx context.Context, tx *store.Tx, accountID, kind string) error
	// Write mails these paragraphs to a user, in their language. Callers pass texts that other people wrote through mail.Plain first.
	Write(ctx context.Context, tx *store.Tx, u *ent.User, subject locale.Text, paragraphs ...locale.Text) error
	// Tell mails a user what happened, who can switch off mails of its kind.
	Tell(ctx context.Context, tx *store.Tx, u *ent.User, t Told) error
}

// Told is a mail about something that happened. Texts that other people wrote go through mail.Plain, those of several lines through
// mail.Quote.
type Told struct {
	Language string      // of the texts below, which are in the person's language already
	Kind     string      // of notice's
	Subject  string      // one line; the same in all mails about one request, so that mail programs show them together
	Events   []Happening // in order
	Page     string      // path of the page that shows it, below the console's: /requests/req_…
	Thread   string      // id of the row whose mails belong together; empty for none
	Decide   bool        // the page asks the person for a decision
	Note     bool        // it tells what not everybody may read who reads the row: an answer is a note for staff
	Rate     string      // id of the request that the person is asked to rate; empty for none
}

// Happening is one of the things that a mail tells.
type Happening struct {
	Paragraphs []string // what happened, one line each, or several
	Quote      string   // what somebody wrote; empty for nothing
	Markdown   bool     // Quote is written in Markdown
}

// Mail sends a mail as part of the operation's transaction. An engine without a mailer, as in tests, sends nothing.
func (tx *Tx) Mail(send func(m Mailer, db *store.Tx) error) error {
	if tx.engine.Mailer == nil {
		return nil
	}
	return send(tx.engine.Mailer, tx.db)
}
