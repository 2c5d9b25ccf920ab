package provider

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/platform/store"
)

// Outcome is a person's answer to an authorization request.
type Outcome struct {
	SignInID        string
	CompanyID       string
	UserID          string   // of that company; its account is the sign-in's
	Methods         []string // amr: pwd otp sms hwk mfa
	AuthenticatedAt time.Time
	Consent         bool // the person was asked and agreed: the consent is stored
}

// Allow answers the request with an authorization code and returns the URL to redirect the browser to. Returns ErrNoRequest for
// a request that can no longer be answered, and ErrOutcome when this sign-in may not answer it.
func (p *Provider) Allow(ctx context.Context, req *Request, by Outcome) (redirectURL string, err error) {
	if !req.FirstParty && by.CompanyID != req.CompanyID || req.UserID != "" && by.UserID != req.UserID {
		return "", ErrOutcome
	}
	code := newToken()
	var row *ent.AuthRequest
	err = p.store.WriteOrRetry(p.within(ctx, by.CompanyID), func(ctx context.Context, tx *store.Tx) error {
		err := tx.AsSystem(ctx, "authorization requests and sign-ins belong to no company", func(ctx context.Context) error {
			if row, err = p.waiting(ctx, tx, req); err != nil {
				return err
			}
			if row.MaxAge != nil && by.AuthenticatedAt.Before(row.CreatedAt.Add(-time.Duration(*row.MaxAge)*time.Second)) {
				return ErrOutcome // older than the client's max_age when it asked
			}
			if err := p.mayAnswer(ctx, tx, by); err != nil {
				return err
			}
			return p.finish(ctx, tx, req, by, identity.HashOf(code))
		})
		if err != nil || !by.Consent || req.FirstParty {
			return err
		}
		return p.remember(ctx, tx, req, by.UserID) // two tabs may store the same consent at once; WriteOrRetry then tries again
	})
	if err != nil {
		return "", err
	}
	return p.respond(row.RedirectURI, row.State, url.Values{"code": {code}}), nil
}

// mayAnswer returns ErrOutcome unless the sign-in is complete and neither ended nor expired, and its account is that of the
// active user.
func (p *Provider) mayAnswer(ctx context.Context, tx *store.Tx, by Outcome) error {
	s, err := tx.SignIn.Query().Where(signin.ID(by.SignInID)).Only(ctx)
	if ent.IsNotFound(err) {
		return ErrOutcome
	}
	if err != nil {
		return fmt.Errorf("look the sign-in up: %w", err)
	}
	u, err := userIn(ctx, tx.Client, by.UserID, by.CompanyID, by.AuthenticatedAt)
	if errors.Is(err, errAccessEnded) {
		return ErrOutcome
	}
	if err != nil {
		return err
	}
	if s.CompletedAt == nil || s.EndedAt != nil || !p.now().Before(s.ExpiresAt) || u.Status != user.StatusActive || u.AccountID != s.AccountID {
		return ErrOutcome
	}
	return nil
}

// finish stores the answer. Of several concurrent answers one is stored; the others get ErrNoRequest.
func (p *Provider) finish(ctx context.Context, tx *store.Tx, req *Request, by Outcome, codeHash []byte) error {
	n, err := tx.AuthRequest.Update().Where(authrequest.ID(req.ID), authrequest.Done(false)).
		SetDone(true).SetSignInID(by.SignInID).SetTenantID(by.CompanyID).SetUserID(by.UserID).SetMethods(slices.Clone(by.Methods)).
		SetAuthenticatedAt(by.AuthenticatedAt).SetCodeHash(codeHash).SetExpiresAt(p.now().Add(codeLife)).Save(ctx)
	if err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	if n == 0 {
		return ErrNoRequest
	}
	return nil
}

// Deny answers the request with an OAuth error code (access_denied, login_required, consent_required, interaction_required,
// account_selection_required) and returns the URL to redirect the browser to. Returns ErrNoRequest for a request that can no
// longer be answered.
func (p *Provider) Deny(ctx context.Context, req *Request, code string) (redirectURL string, err error) {
	var row *ent.AuthRequest
	err = p.store.Write(p.global(ctx), func(ctx context.Context, tx *store.Tx) error {
		if row, err = p.waiting(ctx, tx, req); err != nil {
			return err
		}
		n, err := tx.AuthRequest.Delete().Where(authrequest.ID(row.ID), authrequest.Done(false)).Exec(ctx)
		if err == nil && n == 0 {
			return ErrNoRequest
		}
		return err
	})
	if errors.Is(err, ErrNoRequest) {
		return "", ErrNoRequest
	}
	if err != nil {
		return "", fmt.Errorf("end the authorization request: %w", err)
	}
	return p.respond(row.RedirectURI, row.State, url.Values{"error": {code}}), nil
}

// respond returns the redirect URI with the parameters of an answer, the client's state and the issuer (RFC 9207). It leaves
// the rest of the URI unchanged.
func (p *Provider) respond(redirectURI, state string, params url.Values) string {
	if state != "" {
		params.Set("state", state)
	}
	params.Set("iss", p.issuer)
	return withQuery(redirectURI, params)
}

// withQuery adds parameters to a URI that has no fragment.
func withQuery(uri string, params url.Values) string {
	switch _, query, has := strings.Cut(uri, "?"); {
	case !has:
		uri += "?"
	case query != "":
		uri += "&"
	}
	return uri + params.Encode()
}
