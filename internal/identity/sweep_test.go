package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// What signing in leaves behind goes when its time is over, in every company, and nothing else.
func TestSweepOfIdentity(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		system := principal.System(context.Background(), "test")
		now := w.Clock.Now()
		hash := func(b byte) []byte { return []byte{b} }
		for i, tenant := range []*testkit.Tenant{w.A, w.B} {
			for j, left := range []time.Duration{-time.Minute, time.Hour} {
				n := byte(2*i + j)
				require.NoError(t, w.Store.Write(system, func(ctx context.Context, tx *store.Tx) error {
					return leave(ctx, tx, tenant, hash(n), now.Add(left), now)
				}))
			}
		}
		type counts struct{ requests, signIns, grants, tokens, throttles, sessions, links int }
		count := func() (c counts) {
			db := w.Store.Reader()
			for _, q := range []struct {
				count func(context.Context) (int, error)
				to    *int
			}{
				{db.AuthRequest.Query().Count, &c.requests}, {db.SignIn.Query().Count, &c.signIns}, {db.Grant.Query().Count, &c.grants},
				{db.RefreshToken.Query().Count, &c.tokens}, {db.Throttle.Query().Count, &c.throttles},
				{db.Session.Query().Count, &c.sessions}, {db.MailedLink.Query().Count, &c.links},
			} {
				n, err := q.count(system)
				require.NoError(t, err)
				*q.to = n
			}
			return c
		}
		// The grant of an expired refresh token lives, and takes an unexpired one with it when it does not.
		require.Equal(t, counts{4, 4, 8, 8, 4, 4, 4}, count())
		w.WorkJobs(t, identity.Sweeps())
		require.Eventually(t, func() bool { return count() == counts{2, 2, 6, 4, 2, 4, 4} }, 30*time.Second, 20*time.Millisecond)
	})
}

// leave makes what a sign-in leaves, with a time that ends at ends.
func leave(ctx context.Context, tx *store.Tx, t *testkit.Tenant, hash []byte, ends, now time.Time) error {
	grant := func(ends time.Time) (string, error) {
		g, err := tx.Grant.Create().SetCompanyID(t.Company.ID).SetUserID(t.Owner.ID).SetClientID("cli_1").SetSignInID("sgn_1").
			SetScopes([]string{}).SetMethods([]string{}).SetAuthenticatedAt(now).SetExpiresAt(ends).Save(ctx)
		if err != nil {
			return "", err
		}
		return g.ID, nil
	}
	dying, err := grant(ends)
	if err != nil {
		return err
	}
	living, err := grant(now.Add(time.Hour))
	if err != nil {
		return err
	}
	for _, create := range []interface{ Exec(context.Context) error }{
		tx.RefreshToken.Create().SetCompanyID(t.Company.ID).SetGrantID(dying).SetHash(append(hash, 1)).SetExpiresAt(now.Add(time.Hour)),
		tx.RefreshToken.Create().SetCompanyID(t.Company.ID).SetGrantID(living).SetHash(append(hash, 2)).SetExpiresAt(ends),
		tx.AuthRequest.Create().SetClientID("cli_1").SetRedirectURI("https://app.test/").SetScopes([]string{}).SetCodeChallenge("c").SetExpiresAt(ends),
		tx.SignIn.Create().SetAccountID(t.Owner.AccountID).SetTokenHash(hash).SetMethods([]string{}).SetAuthenticatedAt(now).SetExpiresAt(ends),
		tx.Throttle.Create().SetID(string('a' + rune(hash[0]))).SetFailures(1).SetExpiresAt(ends),
		tx.Session.Create().SetCompanyID(t.Company.ID).SetUserID(t.Owner.ID).SetTokenHash(hash).SetMethods([]string{}).
			SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(ends), // kept a month for its owner to see
		tx.MailedLink.Create().SetKind("sign_up").SetTokenHash(hash).SetExpiresAt(ends), // the same
	} {
		if err := create.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
