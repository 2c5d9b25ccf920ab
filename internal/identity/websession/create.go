package websession

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// createInput describes the session to create. No field comes from a caller.
type createInput struct {
	CompanyID string `json:"-"`
	UserID    string `json:"-"`
	TokenHash []byte `json:"-"`
	Replaces  []byte `json:"-"` // hash of the browser's previous session cookie; nil for none
	GrantID   string `json:"-"` // grant of the embedded provider, which has methods and time; empty for another issuer

	Methods         []string  `json:"-"`
	AuthenticatedAt time.Time `json:"-"`
}

// open creates the session and ends the browser's previous one. A person whose previous session was in the sandbox stays in the
// sandbox. Returns forbidden for a user who is not active, and forbidden with op.ReasonStale when the person was signed out
// everywhere after the sign-in.
func open(ctx context.Context, tx *op.Tx, in createInput) (*ent.Session, error) {
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(in.UserID))).Only(ctx) // the same lock as when the user's access is ended
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	co, err := tx.Company.Get(ctx, u.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if u.Status != user.StatusActive || co.SandboxOf != nil {
		return nil, apperr.New(apperr.Forbidden, "You are not an active member of the company.")
	}
	c := tx.Session.Create().SetUserID(u.ID).SetTokenHash(in.TokenHash)
	proven, methods := in.AuthenticatedAt, in.Methods
	if in.GrantID != "" {
		tx.As("session.opened") // the provider's pages have already written session.created
		g, err := tx.Grant.Query().Where(grant.ID(in.GrantID), grant.UserID(u.ID), grant.RevokedAtIsNil()).Only(ctx)
		if ent.IsNotFound(err) {
			return nil, stale()
		}
		if err != nil {
			return nil, fmt.Errorf("read the grant: %w", err)
		}
		proven, methods = g.AuthenticatedAt, g.Methods
		c.SetGrantID(g.ID).SetSignInID(g.SignInID)
	}
	if u.SignedOutAt != nil && !proven.After(*u.SignedOutAt) {
		return nil, stale()
	}
	before, err := replace(ctx, tx, in.Replaces)
	if err != nil {
		return nil, err
	}
	now := tx.Now(ctx)
	if err := tx.User.Update().Where(user.ID(u.ID)).SetLastSeenAt(now).SetMailState(user.MailStateOK).Exec(ctx); err != nil {
		return nil, fmt.Errorf("record that the person was seen: %w", err)
	}
	p := tx.Principal()
	after, err := c.SetMethods(append([]string{}, methods...)).SetAuthenticatedAt(proven).SetLastSeenAt(now).SetCreatedAt(now).
		SetExpiresAt(authn.SessionExpiry(now, now, authn.SessionIdle(co.SessionLifetimeMinutes))).
		SetSandbox(before != nil && before.Sandbox && before.UserID == u.ID).
		SetIP(audit.By(p).Origin.IP).SetUserAgent(text.Cut(p.UserAgent, text.MaxUserAgent)).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the session: %w", err)
	}
	tx.Changed(nil, after)
	return after, nil
}

func stale() error {
	err := apperr.New(apperr.Forbidden, "You were signed out everywhere. Sign in again.")
	err.Reason = op.ReasonStale
	return err
}

// replace ends the browser's previous session, which may belong to another company or person. Returns nil when there is none.
func replace(ctx context.Context, tx *op.Tx, hash []byte) (before *ent.Session, err error) {
	if len(hash) == 0 {
		return nil, nil
	}
	err = tx.AsSystem(ctx, "session: the browser's earlier session may be of another company", func(ctx context.Context) error {
		found, err := op.Lock(tx, tx.Session.Query().Where(session.TokenHash(hash), session.EndedAtIsNil())).All(ctx)
		if err != nil || len(found) == 0 {
			return err
		}
		before = found[0]
		return nil
	})
	if err == nil && before != nil {
		_, err = access.End(ctx, tx, access.Session(before), access.Replaced)
	}
	if err != nil {
		return nil, fmt.Errorf("end the browser's earlier session: %w", err)
	}
	return before, nil
}
