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
	"atrium/internal/access"
	"atrium/internal/id"
	"atrium/internal/identity"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// logoutEvent is the member of a logout token's events that makes it one.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// callTimeout bounds the call to a client.
const callTimeout = 5 * time.Second

// Logouts makes a job queue deliver the notices of package access, in the name of the issuer as clients know it. calls must
// be a client that refuses private addresses and follows no redirects (package egress): companies choose where it goes.
func Logouts(s *store.Store, keys *identity.Keys, issuer string, calls *http.Client) jobs.Option {
	return jobs.Work(&notifier{store: s, keys: keys, issuer: issuer, http: calls})
}

// notifier delivers logout notices.
type notifier struct {
	river.WorkerDefaults[access.LogoutNotice]
	store  *store.Store
	keys   *identity.Keys
	issuer string
	http   *http.Client
}

// Work sends a logout token to the client. An answer of 400 says that the client does not want it: it is not sent again.
func (t *notifier) Work(ctx context.Context, job *river.Job[access.LogoutNotice]) error {
	args := job.Args
	c, err := t.store.Reader().OAuthClient.Query().Where(oauthclient.ID(args.ClientID)).
		Only(principal.System(ctx, "a job names a client, and only the client its company"))
	if ent.IsNotFound(err) || err == nil && c.BackchannelLogoutURI == "" {
		return nil // nobody is left to be told
	}
	if err != nil {
		return fmt.Errorf("look the client up: %w", err)
	}
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

// logoutToken says that the user's sign-in is over. Its type and event keep it from passing as any other token.
func (t *notifier) logoutToken(ctx context.Context, args access.LogoutNotice) (string, error) {
	now := t.store.Clock().Now()
	return signed(ctx, t.keys, "logout+jwt", &oidc.LogoutTokenClaims{
		Issuer: t.issuer, Subject: args.UserID, Audience: oidc.Audience{args.ClientID}, SessionID: args.SignInID,
		IssuedAt: oidc.FromTime(now), Expiration: oidc.FromTime(now.Add(logoutLife)), JWTID: id.New("tok"),
		Events: map[string]any{logoutEvent: struct{}{}},
	})
}

// send posts the token and returns the answer's status.
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
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	return resp.StatusCode, resp.Body.Close()
}
