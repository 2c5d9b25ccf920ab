package graph

import (
	"context"

	"atrium/ent"
	entmailbox "atrium/ent/mailbox"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/secret"
)

func (r *mutationResolver) CreateMailbox(ctx context.Context, input mailbox.CreateInput) (*generated.CreateMailboxPayload, error) {
	m, err := resolve.Change(ctx, r.Engine, mailbox.Create, input, "")
	return &generated.CreateMailboxPayload{Mailbox: m.Mailbox, Password: clear(m.Password)}, err
}

func (r *mutationResolver) RotateMailboxPassword(ctx context.Context, input op.ByID) (*generated.RotateMailboxPasswordPayload, error) {
	m, err := resolve.Change(ctx, r.Engine, mailbox.RotatePassword, input, "id")
	return &generated.RotateMailboxPasswordPayload{Mailbox: m.Mailbox, Password: clear(m.Password)}, err
}

func (r *mailboxResolver) URL(_ context.Context, m *ent.Mailbox) (*string, error) {
	if m.Kind != entmailbox.KindWebhook {
		return nil, nil
	}
	at := r.baseURL + mailbox.Path(m.ID)
	return &at, nil
}

// clear returns a secret as the answer that shows it once.
func clear(v *secret.Value) *string {
	if v == nil {
		return nil
	}
	plain := string(*v)
	return &plain
}
