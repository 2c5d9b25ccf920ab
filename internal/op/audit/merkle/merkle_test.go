package merkle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/auditleaf"
	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bundle is a world with a sealer. Its companies already have the entries from their setup.
type bundle struct {
	*testkit.World
	t      *testing.T
	sealer *merkle.Sealer
}

func setup(t *testing.T, w *testkit.World) *bundle {
	t.Helper()
	return &bundle{w, t, merkle.NewSealer(w.Store, slog.New(slog.DiscardHandler))}
}

// write writes n entries into A's log, each in its own transaction.
func (b *bundle) write(n int) {
	b.t.Helper()
	b.writeTo(b.A, n)
}

func (b *bundle) writeTo(of *testkit.Tenant, n int) {
	b.t.Helper()
	for i := range n {
		err := b.Store.Write(b.As(of, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			p, _ := principal.From(ctx)
			e := audit.By(p)
			e.Action, e.Resource, e.Origin.IP = "thing.done", "Thing", "192.0.2.7"
			e.Changes = map[string]audit.Change{"note": {To: fmt.Sprintf("<%d> & more", i)}}
			return audit.Write(ctx, tx.Client, e)
		})
		require.NoError(b.t, err)
	}
}

func (b *bundle) sealAll() {
	b.t.Helper()
	require.NoError(b.t, b.sealer.SealAll(b.t.Context()))
}

func (b *bundle) verify(checkpoints ...merkle.Checkpoint) merkle.Report {
	b.t.Helper()
	r, err := merkle.Verify(b.t.Context(), b.Store.Reader(), b.A.Company.ID, checkpoints)
	require.NoError(b.t, err)
	return r
}

func (b *bundle) entries() (out []*ent.AuditEntry) {
	b.t.Helper()
	sys := principal.System(b.t.Context(), "test")
	leaves, err := b.Store.Reader().AuditLeaf.Query().Where(auditleaf.CompanyID(b.A.Company.ID)).Order(ent.Asc(auditleaf.FieldIndex)).All(sys)
	require.NoError(b.t, err)
	for _, l := range leaves {
		out = append(out, b.Store.Reader().AuditEntry.GetX(sys, l.ID))
	}
	return out
}

// tamper changes rows like an attacker who owns the database, with the triggers off.
func (b *bundle) tamper(statement string, args ...any) {
	b.t.Helper()
	err := b.Store.Write(principal.System(b.t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		if tx.Dialect() == dialect.Postgres {
			for _, q := range []string{"ALTER TABLE audit_entries DISABLE TRIGGER USER", "ALTER TABLE audit_leaves DISABLE TRIGGER USER"} {
				if _, err := tx.PGX().Exec(ctx, q); err != nil {
					return err
				}
			}
			_, err := tx.PGX().Exec(ctx, statement, args...)
			return err
		}
		for _, q := range []string{"audit_entries_guard", "audit_entries_no_delete", "audit_leaves_no_update", "audit_leaves_no_delete"} {
			if _, err := tx.SQL().ExecContext(ctx, "DROP TRIGGER IF EXISTS "+q); err != nil {
				return err
			}
		}
		_, err := tx.SQL().ExecContext(ctx, statement, args...)
		return err
	})
	require.NoError(b.t, err)
}

// A company whose log was damaged keeps no other company's entries from being sealed.
func TestBrokenLogStandsAlone(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		b.writeTo(w.B, 3)
		b.sealAll()
		b.write(3)
		b.writeTo(w.B, 1)
		b.tamper("UPDATE audit_leaves SET hashes = substr(hashes, 1, 1) WHERE company_id = '" + w.B.Company.ID + "'")
		require.ErrorContains(t, b.sealer.SealAll(t.Context()), w.B.Company.ID)
		require.Zero(t, b.verify().Unsealed)
	})
}

// Lag is the age of the oldest entry without a place, however old it is: those of a company that was moved here may be from long ago.
func TestLag(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		lag := func() time.Duration {
			d, err := b.sealer.Lag(t.Context(), time.Now())
			require.NoError(t, err)
			return d
		}
		b.sealAll()
		require.Zero(t, lag())
		b.write(1)
		require.Positive(t, lag())
		require.Less(t, lag(), time.Hour)
		ago := time.Now().Add(-25 * time.Hour)
		require.NoError(t, w.Store.Write(w.As(w.B, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.AuditEntry.Create().SetID(id.From("aud", ago)).SetCreatedAt(ago).SetActorType("user").SetActorID("usr_1").SetActorName("Old").SetAction("old").
				SetResourceType("Thing").SetOutcome(auditentry.OutcomeAllowed).SetIP("").SetUserAgent("").SetRequestID("r").Exec(ctx)
		}))
		require.Greater(t, lag(), 24*time.Hour)
		b.sealAll()
		require.Zero(t, lag())
	})
}

// Entries become leaves once each, in the order in which they were written. The tree equals the one that tlog computes.
func TestSeal(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		b.write(37)
		require.Positive(t, b.verify().Unsealed)
		b.sealAll()
		b.sealAll()
		r := b.verify()
		require.True(t, r.Intact, r.Reason)
		require.Zero(t, r.Unsealed)
		require.Equal(t, r.Size, r.Sealed)

		all := b.entries()
		var stored []tlog.Hash
		reader := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, _ error) {
			for _, i := range at {
				out = append(out, stored[i])
			}
			return out, nil
		})
		last := ""
		for i, e := range all {
			leaf, err := audit.Leaf(e)
			require.NoError(t, err)
			require.NotContains(t, string(leaf), e.ActorName)
			require.NotContains(t, string(leaf), "192.0.2.7")
			h, err := tlog.StoredHashes(int64(i), leaf, reader)
			require.NoError(t, err)
			stored = append(stored, h...)
			if e.Action == "thing.done" {
				require.Greater(t, e.ID, last)
				last = e.ID
			}
		}
		root, err := tlog.TreeHash(int64(len(all)), reader)
		require.NoError(t, err)
		require.Equal(t, root.String(), r.RootHash)

		p, err := merkle.NewProver(t.Context(), w.Store.Reader(), w.A.Company.ID)
		require.NoError(t, err)
		require.Equal(t, root, p.Root)
		var indexes []int64
		for i := range all {
			indexes = append(indexes, int64(i))
		}
		proofs, err := p.Prove(indexes)
		require.NoError(t, err)
		for i, e := range all {
			require.NoError(t, tlog.CheckRecord(proofs[i].Path, p.Size, p.Root, int64(i), tlog.Hash(e.LeafHash)))
		}
	})
}

// An entry of an older version, which was written without a leaf hash, gets one.
func TestSealOldEntries(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		for i := range 3 {
			require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				return tx.AuditEntry.Create().SetActorType("user").SetActorID("usr_1").SetActorName("Old").SetAction("old").SetResourceType("Thing").
					SetOutcome(auditentry.OutcomeAllowed).SetIP("").SetUserAgent("").SetRequestID(fmt.Sprint(i)).SetChanges(json.RawMessage(`{"a":{"from":null,"to":1}}`)).Exec(ctx)
			}))
		}
		b.sealAll()
		r := b.verify()
		require.True(t, r.Intact, r.Reason)
		require.Zero(t, r.Unsealed)
		require.GreaterOrEqual(t, r.Size, int64(3))
	})
}

// Concurrent sealers, some of which are stopped in the middle, leave neither gaps nor duplicates.
func TestSealersAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		var running sync.WaitGroup
		for range 3 {
			other := merkle.NewSealer(w.Store, slog.New(slog.DiscardHandler))
			running.Go(func() {
				for range 10 {
					ctx, cancel := context.WithCancel(context.Background())
					running.Go(cancel) // at a random moment of the work
					_ = other.SealAll(ctx)
				}
			})
		}
		b.write(60)
		running.Wait()
		b.sealAll()
		r := b.verify()
		require.True(t, r.Intact, r.Reason)
		require.Zero(t, r.Unsealed)
		for i, e := range b.entries() {
			require.NotNil(t, e, i)
		}
	})
}

// Verify finds every change made to the rows behind the product's back, and names the lowest index.
func TestTampering(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for name, tc := range map[string]struct {
			do func(b *bundle, all []*ent.AuditEntry)
			at int64
		}{
			"a public value": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper("UPDATE audit_entries SET outcome = 'denied' WHERE id = $1", all[7].ID)
			}, 7},
			"a name": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper("UPDATE audit_entries SET actor_name = 'Somebody else' WHERE id = $1", all[3].ID)
			}, 3},
			"values taken out without a word": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper("UPDATE audit_entries SET changes = NULL WHERE id = $1", all[9].ID)
			}, 9},
			"an entry removed": {func(b *bundle, all []*ent.AuditEntry) { b.tamper("DELETE FROM audit_entries WHERE id = $1", all[5].ID) }, 5},
			"an entry removed with its leaf": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper("DELETE FROM audit_entries WHERE id = $1", all[5].ID)
				b.tamper("DELETE FROM audit_leaves WHERE id = $1", all[5].ID)
			}, 5},
			"two entries exchanged": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper("UPDATE audit_entries SET id = 'x' WHERE id = $1", all[4].ID)
				b.tamper("UPDATE audit_entries SET id = $1 WHERE id = $2", all[4].ID, all[8].ID)
				b.tamper("UPDATE audit_entries SET id = $1 WHERE id = 'x'", all[8].ID)
			}, 4},
			"two leaves exchanged": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper(`UPDATE audit_leaves SET "index" = -1 WHERE id = $1`, all[5].ID)
				b.tamper(`UPDATE audit_leaves SET "index" = 5 WHERE id = $1`, all[9].ID)
				b.tamper(`UPDATE audit_leaves SET "index" = 9 WHERE id = $1`, all[5].ID)
			}, 5},
			"one put in, and all behind it moved": {func(b *bundle, all []*ent.AuditEntry) {
				b.tamper(`UPDATE audit_leaves SET "index" = -"index" - 2 WHERE "index" >= 6 AND company_id = $1`, b.A.Company.ID)
				b.tamper(`UPDATE audit_leaves SET "index" = -"index" - 1 WHERE "index" < 0 AND company_id = $1`, b.A.Company.ID)
				b.tamper(`INSERT INTO audit_leaves (id, company_id, "index", hashes) SELECT 'aud_x', company_id, 6, hashes FROM audit_leaves WHERE id = $1`, all[0].ID)
			}, 6},
		} {
			t.Run(name, func(t *testing.T) {
				fresh := testkit.SQLiteWorld
				if w.Store.Dialect() == dialect.Postgres {
					fresh = testkit.PostgresWorld
				}
				b := setup(t, fresh(t))
				b.write(12)
				b.sealAll()
				tc.do(b, b.entries())
				r := b.verify()
				require.False(t, r.Intact)
				require.NotEmpty(t, r.Reason)
				require.Equal(t, tc.at, *r.BrokenAt, r.Reason)
			})
		}
	})
}

// A log that was computed again is consistent in itself, but not with an earlier checkpoint.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		require.NoError(t, merkle.MakeKey(t.Context(), w.Store, w.Engine.Sealer))
		require.NoError(t, merkle.MakeKey(t.Context(), w.Store, w.Engine.Sealer))
		key, err := merkle.OpenKey(t.Context(), w.Store.Reader(), w.Engine.Sealer)
		require.NoError(t, err)
		var kept []merkle.Checkpoint
		for range 3 {
			b.write(5)
			b.sealAll()
			head, err := merkle.Head(t.Context(), w.Store.Reader(), w.A.Company.ID)
			require.NoError(t, err)
			signed, err := key.Sign(head)
			require.NoError(t, err)
			back, err := merkle.OpenCheckpoint(signed, key.Public)
			require.NoError(t, err)
			require.Equal(t, head, back)
			_, err = merkle.OpenCheckpoint(strings.Replace(signed, "\n", "\n1", 1), key.Public)
			require.Error(t, err)
			kept = append(kept, back)
		}
		r := b.verify(kept...)
		require.True(t, r.Intact, r.Reason)

		b.tamper("DELETE FROM audit_leaves WHERE company_id = $1", w.A.Company.ID)
		b.tamper("DELETE FROM audit_entries WHERE id = $1", b.firstOf("thing.done"))
		b.tamper("UPDATE row_counts SET n = n - 1 WHERE kind = 'audit' AND company_id = $1", w.A.Company.ID)
		b.sealAll()
		require.True(t, b.verify().Intact, "without a checkpoint nothing tells")
		r = b.verify(kept...)
		require.False(t, r.Intact)
		require.Equal(t, int64(0), *r.BrokenAt)

		longer := kept[2]
		longer.Size += 1000
		r = b.verify(longer)
		require.Equal(t, r.Size, *r.BrokenAt)
	})
}

func (b *bundle) firstOf(action string) string {
	b.t.Helper()
	e, err := b.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action), auditentry.CompanyID(b.A.Company.ID)).
		Order(ent.Asc(auditentry.FieldID)).First(principal.System(b.t.Context(), "test"))
	require.NoError(b.t, err)
	return e.ID
}

// After an erasure every proof is still valid. The database refuses any other change, and an erasure without its entry is
// reported.
func TestErase(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		b.write(10)
		b.sealAll()
		head, err := merkle.Head(t.Context(), w.Store.Reader(), w.A.Company.ID)
		require.NoError(t, err)
		all := b.entries()
		erase := func(which func(*ent.AuditEntry) audit.Parts) (n int) {
			require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) (err error) {
				p, _ := principal.From(ctx)
				by := audit.By(p)
				by.Resource = "User"
				n, err = audit.Erase(ctx, tx.Client, by, b.entries(), which)
				return err
			}))
			return n
		}
		one := all[len(all)-3].ID
		require.Equal(t, 1, erase(func(e *ent.AuditEntry) audit.Parts { return audit.Parts{Actor: e.ID == one} }))
		b.write(1) // it is erased before it is sealed
		all = b.entries()
		require.Equal(t, 2*len(all)-1, erase(func(*ent.AuditEntry) audit.Parts { return audit.Parts{Actor: true, Changes: true} }))
		require.Zero(t, erase(func(e *ent.AuditEntry) audit.Parts { return audit.Parts{Actor: e.ID == one, Changes: true} }))
		r := b.verify(head)
		require.True(t, r.Intact, r.Reason)
		b.sealAll()
		r = b.verify(head)
		require.True(t, r.Intact, r.Reason)
		require.Equal(t, int64(len(all)), r.Erased)
		for _, e := range b.entries()[:len(all)] {
			require.Empty(t, e.ActorName+e.IP+e.UserAgent+string(e.Changes))
		}

		b.tamper("UPDATE audit_entries SET changes_seal = actor_seal WHERE id = $1", one) // another erasure's entry is named
		require.False(t, b.verify().Intact)
	})
}

// Proofs of single leaves and between two sizes are valid for any number of leaves.
func TestAnySize(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	b := setup(t, w)
	var heads []merkle.Checkpoint
	rapid.Check(t, func(rt *rapid.T) {
		b.write(rapid.IntRange(1, 9).Draw(rt, "n"))
		b.sealAll()
		p, err := merkle.NewProver(t.Context(), w.Store.Reader(), w.A.Company.ID)
		require.NoError(rt, err)
		heads = append(heads, p.Checkpoint)
		i := rapid.Int64Range(0, p.Size-1).Draw(rt, "i")
		proofs, err := p.Prove([]int64{i})
		require.NoError(rt, err)
		id := b.entries()[i].ID
		e := w.Store.Reader().AuditEntry.GetX(principal.System(t.Context(), "test"), id)
		require.NoError(rt, tlog.CheckRecord(proofs[0].Path, p.Size, p.Root, i, tlog.Hash(e.LeafHash)))
	})
	r := b.verify(heads...)
	require.True(t, r.Intact, r.Reason)
}
