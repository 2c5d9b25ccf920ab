package websession_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"atrium/ent/grant"
	"atrium/internal/identity/access"
	"atrium/internal/identity/websession"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// told is a queue that records the users in its logout notices.
type told struct {
	op.Queue
	users []string
}

func (l *told) InsertTx(_ context.Context, _ *store.Tx, job river.JobArgs, _ time.Time) error {
	if notice, ok := job.(access.LogoutNotice); ok {
		l.users = append(l.users, notice.UserID)
	}
	return nil
}

// CompleteTx is never called, because no jobs are worked here.
func (*told) CompleteTx(context.Context, *store.Tx, *rivertype.JobRow) error { return nil }

// Ending a session ends the grants of other applications from the same sign-in, and these applications are notified: within the
// company when an admin ends it, in all companies when the person does.
func TestEndedSessionTakesGrantsAlong(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		heard := &told{}
		h.Engine.Queue = heard
		admin, member := h.enter(principal.Admin), h.A.Users[principal.Member]
		// Grants of applications from the same sign-in, here and in another company, as for a person who is a member of both.
		elsewhere := func(session string) string {
			row, id := h.row(session), ""
			h.write(func(ctx context.Context, tx *store.Tx) error {
				g, err := tx.Grant.Query().Where(grant.SignInID(row.SignInID)).Only(ctx)
				if err != nil {
					return err
				}
				for _, of := range []struct{ company, user string }{{g.CompanyID, g.UserID}, {h.B.Company.ID, h.B.Owner.ID}} {
					c, err := tx.OAuthClient.Create().SetCompanyID(of.company).SetName("Hears").SetRedirectUris([]string{"https://app.test/"}).
						SetScopes(g.Scopes).SetBackchannelLogoutURI("https://app.test/logout").SetCreatedBy("test").Save(ctx)
					if err != nil {
						return err
					}
					made, err := tx.Grant.Create().SetCompanyID(of.company).SetUserID(of.user).SetClientID(c.ID).SetSignInID(g.SignInID).
						SetScopes(g.Scopes).SetMethods(g.Methods).SetAuthenticatedAt(g.AuthenticatedAt).SetExpiresAt(g.ExpiresAt).Save(ctx)
					if err != nil {
						return err
					}
					id = made.ID
				}
				return nil
			})
			return id
		}
		revoked := func(id string) bool {
			g, err := h.Store.Reader().Grant.Get(system(), id)
			require.NoError(t, err)
			return g.RevokedAt != nil
		}

		session := h.enter(principal.Member)
		there := elsewhere(session)
		_, err := run(h.as(admin), h, websession.End, op.ByID{ID: h.row(session).ID})
		require.NoError(t, err)
		require.Equal(t, []string{member.ID}, heard.users)
		require.False(t, revoked(there), "an admin's reach ends with the company")

		session, heard.users = h.enter(principal.Member), nil
		there = elsewhere(session)
		_, err = run(h.as(session), h, websession.End, op.ByID{ID: h.row(session).ID})
		require.NoError(t, err)
		require.ElementsMatch(t, []string{member.ID, h.B.Owner.ID}, heard.users)
		require.True(t, revoked(there))
		alive, err := h.Store.Reader().Grant.Query().Where(grant.UserID(member.ID), grant.RevokedAtIsNil()).Count(system())
		require.NoError(t, err)
		require.Zero(t, alive)

		session, heard.users = h.enter(principal.Member), nil
		elsewhere(session)
		_, err = run(h.as(admin), h, websession.EndAll, websession.EndAllInput{UserID: member.ID})
		require.NoError(t, err)
		require.Equal(t, []string{member.ID}, heard.users)
		require.Nil(t, h.who(session))
	})
}
