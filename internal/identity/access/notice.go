package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/oauthclient"
)

// LogoutNotice is the job that notifies a client of the end of a sign-in (OpenID Connect Back-Channel Logout 1.0). Package
// provider works it.
type LogoutNotice struct {
	ClientID string `json:"clientId"`
	UserID   string `json:"userId"`
	SignInID string `json:"signInId"` // sid of the ID tokens
}

// Kind names the job.
func (LogoutNotice) Kind() string { return "backchannel_logout" }

// InsertOpts limits the attempts, which take some 16 minutes. If a client never answers, its tokens are refused
// nevertheless.
func (LogoutNotice) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 6} }

// tellClients inserts a notice for every client, user and sign-in of the grants, if the client wants to hear of logouts.
func tellClients(ctx context.Context, tx Tx, revoked []*ent.Grant) error {
	var ids []string
	for _, g := range revoked {
		ids = append(ids, g.ClientID)
	}
	slices.Sort(ids)
	wanting, err := tx.Ent().OAuthClient.Query().
		Where(oauthclient.IDIn(slices.Compact(ids)...), oauthclient.BackchannelLogoutURINEQ("")).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look the clients up: %w", err)
	}
	told := map[LogoutNotice]bool{}
	for _, g := range revoked {
		notice := LogoutNotice{ClientID: g.ClientID, UserID: g.UserID, SignInID: g.SignInID}
		if told[notice] || !slices.Contains(wanting, g.ClientID) {
			continue
		}
		told[notice] = true
		if err := tx.Insert(ctx, notice, time.Time{}); err != nil {
			return fmt.Errorf("tell a client of a logout: %w", err)
		}
	}
	return nil
}
