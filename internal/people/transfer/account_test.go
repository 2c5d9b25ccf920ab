package transfer_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/factor"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Somebody whose address is known in the new installation keeps the account there, with its second factors and not those of the old
// one. Their user says so once they have accepted the invitation.
func TestKnownAccountsHaveTheirOwnFactors(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		ctx := system(t)
		enrol := func(w *testkit.World, who *ent.User) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				acc, err := tx.Account.Query().Where(account.Email(who.Email)).Only(ctx)
				if err != nil {
					return err
				}
				sealed, err := w.Engine.Sealer.Seal([]byte("seed"), []byte("fac_"+who.ID))
				if err != nil {
					return err
				}
				if err := tx.Factor.Create().SetID("fac_" + who.ID).SetAccountID(acc.ID).SetKind(factor.KindTotp).SetName("Phone").SetSecretSealed(sealed).Exec(ctx); err != nil {
					return err
				}
				return tx.User.UpdateOneID(who.ID).SetMfaEnabled(true).Exec(ctx)
			}))
		}
		before, after := from.A.Users[principal.Agent], from.A.Users[principal.Member]
		enrol(from, before)
		enrol(to, to.A.Users[principal.Member])
		alone := from.AddUser(t, from.A, "alone@a.test", principal.Member)
		enrol(from, alone)

		_, err := importer(to).Import(ctx, export(t, from), passphrase)
		require.NoError(t, err)
		invited := to.Store.Reader().User.GetX(ctx, after.ID)
		require.False(t, invited.MfaEnabled, "the company learns how its members sign in, and nobody else")
		require.NoError(t, to.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			accepted, err := people.Accept(ctx, tx, invited, "")
			require.True(t, accepted)
			return err
		}))
		for id, want := range map[string]bool{before.ID: false, after.ID: true, alone.ID: true} {
			u, err := to.Store.Reader().User.Get(ctx, id)
			require.NoError(t, err)
			require.Equal(t, want, u.MfaEnabled, u.Email)
			acc, err := to.Store.Reader().Account.Get(ctx, u.AccountID)
			require.NoError(t, err)
			require.Equal(t, id == alone.ID, acc.UnprovenSince != nil, "%s: an account that the file has brought", u.Email)
		}
	})
}
