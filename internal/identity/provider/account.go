package provider

import (
	"context"
	"fmt"

	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/store"
)

// nobody is no sign-in's id: what another issuer signed in has an empty one.
const nobody = "-"

// EndAccount ends all that an account is signed in with, in every company: its sign-ins, web sessions and grants. The
// sign-in keep stays, with what came from it; with an empty one nothing stays, and tokens of no grant, such as the
// operator's, are over as well. Clients that asked for it are told by jobs. The transaction's context reaches rows of all
// companies; its caller calls the store's AuthorityChanged after the commit.
func (p *Provider) EndAccount(ctx context.Context, tx *store.Tx, accountID, keep string) error {
	now, own := p.now(), user.AccountID(accountID)
	if keep == "" {
		keep = nobody
		if err := tx.User.Update().Where(own).SetSignedOutAt(now).Exec(ctx); err != nil {
			return fmt.Errorf("sign the account's users out: %w", err)
		}
	}
	err := tx.SignIn.Update().Where(signin.AccountID(accountID), signin.IDNEQ(keep), signin.EndedAtIsNil()).
		SetEndedAt(now).ClearPending().Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the account's sign-ins: %w", err)
	}
	err = tx.Session.Update().Where(session.HasUserWith(own), session.SignInIDNEQ(keep), session.EndedAtIsNil()).SetEndedAt(now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the account's sessions: %w", err)
	}
	grants, err := tx.Grant.Query().Where(grant.HasUserWith(own), grant.SignInIDNEQ(keep), grant.RevokedAtIsNil()).All(ctx)
	if err != nil {
		return fmt.Errorf("find the account's grants: %w", err)
	}
	err = tx.Grant.Update().Where(grant.HasUserWith(own), grant.SignInIDNEQ(keep), grant.RevokedAtIsNil()).SetRevokedAt(now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("revoke the account's grants: %w", err)
	}
	return p.TellClients(ctx, tx, grants)
}
