package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/zitadel/oidc/v3/pkg/oidc"

	"atrium/ent"
	"atrium/ent/oauthclient"
	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// logoutEvent is the member of the claim "events" that marks a JWT as a logout token.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// callTimeout bounds the call to a client.
const callTimeout = 5 * time.Second

// The places of a node for calls to clients, among the workers of jobs without a queue. A client that hangs holds one for callTimeout.
const (
	callsAtOnce = 4
	callsOfOne  = 2 // company
	callTurn    = time.Second
)

// Logouts makes a job queue deliver the logout notices of package access. issuer is the issuer as clients know it. calls must
// be a client that refuses private addresses and follows no redirects (package egress), because companies choose the URIs.
func Logouts(s *store.Store, keys *identity.Keys, issuer string, calls *http.Client) jobs.Option {
	return jobs.Work(&notifier{store: s, keys: keys, issuer: issuer, http: calls, places: jobs.NewPlaces(callsAtOnce, callsOfOne, callTurn)})
}

// notifier delivers logout notices.
type notifier struct {
	river.WorkerDefaults[access.LogoutNotice]
	store  *store.Store
	keys   *identity.Keys
	issuer string
	http   *http.Client
	places *jobs.Places
}

// Work sends a logout token to the client. After an answer of 400 it is not sent again: the client refused the token.
func (t *notifier) Work(ctx context.Context, job *river.Job[access.LogoutNotice]) error {
	args := job.Args
	c, err := t.store.Reader().OAuthClient.Query().Where(oauthclient.ID(args.ClientID)).
		Only(principal.System(ctx, "a job names a client, and only the client its company"))
	if ent.IsNotFound(err) || err == nil && c.BackchannelLogoutURI == "" {
		return nil // the client was deleted, or has no logout URI any more
	}
	if err != nil {
		return fmt.Errorf("look the client up: %w", err)
	}
	leave, err := t.places.TakeOrSnooze(c.CompanyID)
	if err != nil {
		return err
	}
	defer leave()
	token, err := t.logoutToken(ctx, args)
	if err != nil {
		return err
	}
	status, err := t.send(ctx, c.BackchannelLogoutURI, token)
	switch {
	case err != nil:
		return err
	case status == http.StatusBadRequest:
		return river.JobCancel(errors.New("the client refused the logout token"))
	case status != http.StatusOK && status != http.StatusNoContent:
		return fmt.Errorf("the client answered %d", status)
	}
	return nil
}

// logoutToken returns a token that says that the user's sign-in has ended. Its type and its event keep it from being accepted
// as any other kind of token.
func (t *notifier) logoutToken(ctx context.Context, args access.LogoutNotice) (string, error) {
	now := t.store.Clock().Now()
	return t.keys.Sign(ctx, "logout+jwt", &oidc.LogoutTokenClaims{
		Issuer: t.issuer, Subject: args.UserID, Audience: oidc.Audience{args.ClientID}, SessionID: args.SignInID,
		IssuedAt: oidc.FromTime(now), Expiration: oidc.FromTime(now.Add(logoutLife)), JWTID: id.New("tok"),
		Events: map[string]any{logoutEvent: struct{}{}},
	})
}

// send posts the token and returns the status of the answer.
func (t *notifier) send(ctx context.Context, uri, token string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, strings.NewReader(url.Values{"logout_token": {token}}.Encode()))
	if err != nil {
		return 0, fmt.Errorf("tell the client: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := t.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("tell the client: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // lets the connection be reused
	return resp.StatusCode, resp.Body.Close()
}
