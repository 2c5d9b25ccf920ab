package mailbox

import (
	"context"
	"crypto/subtle"
	"fmt"

	"atrium/ent"
	"atrium/ent/mailbox"
	"atrium/internal/notify/inmail"
	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// hookPath is where mail providers call.
const hookPath = "/v1/webhooks/mail/"

// Path returns the path of a mailbox's webhook, below the base URL.
func Path(mailboxID string) string { return hookPath + mailboxID }

// Enter returns the mailbox whose webhook is called with its password, and a place among the messages that a node takes at once: each may
// take 25 MB of memory. Returns unauthorized, whether there is no such mailbox or the password is another one.
func (p *Post) Enter(ctx context.Context, id, password string) (m *ent.Mailbox, leave func(), err error) {
	refusal := apperr.New(apperr.Unauthorized, "The mailbox does not exist, or has another password.")
	if !input.Storable(id) {
		return nil, nil, refusal
	}
	m, err = p.Depot.Engine.Store.Reader().Mailbox.Query().Where(mailbox.ID(id), mailbox.KindEQ(mailbox.KindWebhook), mailbox.Enabled(true)).
		Only(principal.System(ctx, "a mail says by its address whose it is"))
	if ent.IsNotFound(err) {
		return nil, nil, refusal
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look the mailbox up: %w", err)
	}
	known, err := openPassword(p.Depot.Engine.Sealer, m)
	if err != nil {
		return nil, nil, err
	}
	if subtle.ConstantTimeCompare([]byte(known), []byte(password)) != 1 {
		return nil, nil, refusal
	}
	leave, err = p.hooks.Take(ctx, m.CompanyID)
	if err != nil {
		return nil, nil, apperr.Busy(err)
	}
	return m, leave, nil
}

// Deliver keeps a message that a provider's webhook brings. Once it returns nil, nothing is lost.
func (p *Post) Deliver(ctx context.Context, m *ent.Mailbox, raw []byte) error {
	if len(raw) == 0 {
		return apperr.New(apperr.Validation, "The call brings no message.")
	}
	if len(raw) > inmail.MaxSize {
		return p.keep(ctx, nil, received{mailbox: m, recipient: m.Address, size: int64(len(raw))})
	}
	return p.deliver(ctx, m, raw, nil)
}
