package signin_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// logoutNotices is a queue that notes which clients are told of a logout.
type logoutNotices struct {
	op.Queue
	clients []string
}

func (n *logoutNotices) InsertTx(_ context.Context, _ *store.Tx, job river.JobArgs, _ time.Time) error {
	if notice, ok := job.(access.LogoutNotice); ok {
		n.clients = append(n.clients, notice.ClientID)
	}
	return nil
}

// CompleteTx is not called: nothing works jobs here.
func (*logoutNotices) CompleteTx(context.Context, *store.Tx, *rivertype.JobRow) error { return nil }

// What was signed in with the factors that are reset is over, sessions and applications alike, and the applications hear
// of it. What others are signed in with goes on.
func TestResetMFAEndsWhatWasSignedIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		heard := &logoutNotices{}
		s.Engine.Queue = heard
		s.enrolled(s.agent())
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.OAuthClient.UpdateOneID(s.app.ID).SetBackchannelLogoutURI("https://app.test/logout").Exec(ctx)
		})
		begin := func(u *ent.User, mark byte) {
			s.change(func(ctx context.Context, tx *store.Tx) error {
				now := s.Clock.Now()
				in, err := tx.SignIn.Create().SetAccountID(u.AccountID).SetTokenHash([]byte{mark}).SetMethods([]string{"pwd"}).
					SetAuthenticatedAt(now).SetCompletedAt(now).SetExpiresAt(now.Add(time.Hour)).Save(ctx)
				if err != nil {
					return err
				}
				_, err = tx.Grant.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetClientID(s.app.ID).SetSignInID(in.ID).
					SetScopes([]string{"openid"}).SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetExpiresAt(now.Add(time.Hour)).Save(ctx)
				if err != nil {
					return err
				}
				return tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetTokenHash([]byte{mark}).SetSignInID(in.ID).
					SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).Exec(ctx)
			})
		}
		begin(s.agent(), 1)
		begin(s.A.Users[principal.Member], 2)
		require.Empty(t, s.reset(s.As(s.A, principal.Admin), s.agent().ID))
		require.Equal(t, []string{s.app.ID}, heard.clients)
		grants, err := s.Store.Reader().Grant.Query().Where(grant.RevokedAtIsNil()).All(s.system())
		require.NoError(t, err)
		require.Len(t, grants, 1)
		require.Equal(t, s.A.Users[principal.Member].ID, grants[0].UserID)
		sessions, err := s.Store.Reader().Session.Query().Where(session.EndedAtIsNil()).All(s.system())
		require.NoError(t, err)
		require.Len(t, sessions, 1)
		require.Equal(t, s.A.Users[principal.Member].ID, sessions[0].UserID)

		require.Empty(t, s.reset(s.As(s.A, principal.Admin), s.A.Users[principal.Member].ID), "without factors nothing is over")
		sessions, err = s.Store.Reader().Session.Query().Where(session.EndedAtIsNil()).All(s.system())
		require.NoError(t, err)
		require.Len(t, sessions, 1)
		require.Len(t, heard.clients, 1)
	})
}
