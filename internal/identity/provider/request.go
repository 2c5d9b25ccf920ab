package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/internal/platform/store"
)

// ErrNoRequest is returned for an authorization request that cannot be answered: unknown, expired, already answered, begun in
// another browser, or of a client that has been deleted since. The caller cannot tell these cases apart.
var ErrNoRequest = errors.New("provider: there is no such authorization request")

// ErrOutcome is returned by Allow for a person or a sign-in that may not answer the request: a user who is not active, or of
// another company or account; a sign-in that is unfinished, ended or expired, that is older than the user's last sign-out
// everywhere, or older than the client accepts (max_age, prompt=login). The person has to sign in again.
var ErrOutcome = errors.New("provider: the sign-in does not answer the request")

// Request is an authorization request that waits for a person's answer. Only Pending returns one.
type Request struct {
	ID         string
	ClientID   string
	ClientName string
	CompanyID  string         // the client's company; empty for the web application, which serves all companies
	UserID     string         // the only user who may answer, from the client's id_token_hint; empty for any
	Scopes     []string       // the scopes that the client will have in effect, to be shown before consent
	Prompt     []string       // none, login, consent, select_account
	MaxAge     *time.Duration // how long ago the person may have signed in; nil for no limit
	LoginHint  string         // an e-mail address that the client suggests; may be empty
	FirstParty bool           // the web application, which needs no consent

	browser []byte // the stored hash of the browser's cookie
}

// HasPrompt reports whether the client asked for the prompt.
func (r *Request) HasPrompt(prompt string) bool { return slices.Contains(r.Prompt, prompt) }

// Pending returns the authorization request with an id if r comes from the browser that began it. Returns ErrNoRequest
// otherwise.
func (p *Provider) Pending(ctx context.Context, id string, r *http.Request) (*Request, error) {
	browser := browserHash(r)
	if browser == nil || !idLike(id) {
		return nil, ErrNoRequest
	}
	row, err := p.store.Reader().AuthRequest.Query().
		Where(authrequest.ID(id), authrequest.Done(false), authrequest.ExpiresAtGT(p.now())).Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, ErrNoRequest
	}
	if err != nil {
		return nil, fmt.Errorf("look the authorization request up: %w", err)
	}
	if !sameBrowser(row.BrowserHash, browser) {
		return nil, ErrNoRequest
	}
	c, err := p.client(ctx, row.ClientID)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, ErrNoRequest
	}
	return requestOf(row, c), nil
}

func requestOf(row *ent.AuthRequest, c *client) *Request {
	req := &Request{
		ID: row.ID, ClientID: c.id, ClientName: c.name, CompanyID: c.companyID, Scopes: c.reach(row.Scopes),
		Prompt: row.Prompt, LoginHint: row.LoginHint, FirstParty: c.firstParty(), browser: row.BrowserHash,
	}
	if row.UserID != nil {
		req.UserID = *row.UserID
	}
	if row.MaxAge != nil {
		age := time.Duration(*row.MaxAge) * time.Second
		req.MaxAge = &age
	}
	return req
}

// waiting reads the row of the request in the transaction. Returns ErrNoRequest like Pending. ctx must reach rows of no
// company.
func (p *Provider) waiting(ctx context.Context, tx *store.Tx, req *Request) (*ent.AuthRequest, error) {
	row, err := tx.AuthRequest.Query().
		Where(authrequest.ID(req.ID), authrequest.Done(false), authrequest.ExpiresAtGT(p.now())).Only(ctx)
	if ent.IsNotFound(err) || err == nil && !sameBrowser(row.BrowserHash, req.browser) {
		return nil, ErrNoRequest
	}
	if err != nil {
		return nil, fmt.Errorf("look the authorization request up: %w", err)
	}
	return row, nil
}
