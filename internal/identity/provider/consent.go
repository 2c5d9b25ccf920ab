package provider

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/consent"
	"atrium/internal/platform/store"
)

// NeedsConsent reports whether the user must consent before the client gets what it requests. Consent is not needed for the web
// application, and not when the user has consented to all requested scopes before, unless the client sends prompt=consent.
func (p *Provider) NeedsConsent(ctx context.Context, req *Request, userID, companyID string) (bool, error) {
	if req.FirstParty {
		return false, nil
	}
	if companyID != req.CompanyID || req.HasPrompt("consent") {
		return true, nil
	}
	row, err := p.store.Reader().Consent.Query().Where(consent.UserID(userID), consent.ClientID(req.ClientID)).Only(p.within(ctx, companyID))
	if ent.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look the consent up: %w", err)
	}
	return slices.ContainsFunc(req.Scopes, func(s string) bool { return !slices.Contains(row.Scopes, s) }), nil
}

// remember adds the scopes of the request to the stored consent of the user for the client. The transaction is the company's.
func (p *Provider) remember(ctx context.Context, tx *store.Tx, req *Request, userID string) error {
	row, err := tx.Consent.Query().Where(consent.UserID(userID), consent.ClientID(req.ClientID)).Only(ctx)
	if ent.IsNotFound(err) {
		err = tx.Consent.Create().SetUserID(userID).SetClientID(req.ClientID).SetScopes(req.Scopes).Exec(ctx)
	} else if err == nil {
		all := slices.Clone(row.Scopes)
		for _, s := range req.Scopes {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		if len(all) > len(row.Scopes) {
			err = row.Update().SetScopes(all).Exec(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("remember the consent: %w", err)
	}
	return nil
}
