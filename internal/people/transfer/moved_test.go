package transfer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/agent/runs"
	"atrium/internal/notify/notice"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/people/transfer"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
)

const passphrase = "a towel, always"

// What a company still has to do moves with it, at its time and in its queue, whatever kind of work it is. Nothing of another company
// moves.
func TestUnfinishedWorkMoves(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		a, b, sandbox := from.A.Company.ID, from.B.Company.ID, sandboxOf(t, from)
		later := from.Clock.Now().Add(72 * time.Hour).Truncate(time.Millisecond).UTC()
		insert(t, from,
			jobs.Job{Args: runs.IntakeArgs{Company: a, Request: "req_1"}},
			jobs.Job{Args: runs.LeaseArgs{Company: a, Run: "run_1", Plan: 2, End: later}, At: later},
			jobs.Job{Args: runs.ReleaseArgs{Company: sandbox, Task: "tsk_1"}, Priority: 3},
			jobs.Job{Args: runs.IntakeArgs{Company: b, Request: "req_2"}},
			jobs.Job{Args: webhook.ReplayArgs{Company: a, Subscription: "whk_1", Since: later}},
			jobs.Job{Args: notice.Args{Company: a, Request: "req_1", By: "usr_1"}},
			jobs.Job{Args: jobs.SweepArgs{}})
		want := from.Unfinished(t, a, sandbox)
		require.Len(t, want, 5)
		require.Equal(t, later, want[1].At)
		require.Zero(t, want[0].At)

		from.Clock.SetOffset(time.Hour) // what is due at a time of the product stays due at it
		file := export(t, from)
		from.Clock.SetOffset(0)
		_, err := importer(to).Import(system(t), file, passphrase)
		require.NoError(t, err)
		got := to.Unfinished(t, a, sandbox)
		got[1].At = got[1].At.Add(-time.Hour)
		require.Equal(t, want, got)
		require.Len(t, to.Unfinished(t, a, b), 4, "the sandbox's is the fifth")
	})
}

// The events of a resource are numbered on in the new installation, also where the old ones were swept; one without a number stays so.
func TestNumbersOfEventsGoOn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		happen := func(w *testkit.World, ctx context.Context, subject, also string) (e *ent.Event) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				e, err = tx.Event.Create().SetCompanyID(from.A.Company.ID).SetType("request.created").SetSubjectID(subject).SetPayload([]byte("{}")).Save(ctx)
				if err == nil && also != "" {
					err = tx.ExecRaw(ctx, also, e.ID)
				}
				return err
			}))
			return e
		}
		happen(from, system(t), "req_1", "")
		happen(from, system(t), "req_1", "DELETE FROM events WHERE subject_id = 'req_1' AND ? <> ''")
		former := happen(from, system(t), "req_2", "UPDATE events SET sequence = NULL WHERE id = ?")
		_, err := importer(to).Import(system(t), export(t, from), passphrase)
		require.NoError(t, err)
		number := func(e *ent.Event) int64 { return to.Store.Reader().Event.GetX(system(t), e.ID).Sequence }
		require.EqualValues(t, 0, number(former))
		require.EqualValues(t, 3, number(happen(to, system(t), "req_1", "")))
		require.EqualValues(t, 2, number(happen(to, system(t), "req_2", "")))
		require.EqualValues(t, 1, number(happen(to, system(t), "req_3", "")))
	})
}

// A file may have been written by whoever has exported a company. What it says of other companies is refused, and nothing of it stays.
func TestAFileHoldsOneCompany(t *testing.T) {
	t.Parallel()
	from := testkit.SQLiteWorld(t)
	a, b := from.A.Company.ID, from.B.Company.ID
	insert(t, from, jobs.Job{Args: runs.IntakeArgs{Company: a, Request: "req_1"}})
	whole := opened(t, export(t, from))
	account := from.A.Users[principal.Member].AccountID
	for _, c := range []struct{ row, from, to string }{
		{"companies", a, b},
		{"users", a, b},
		{"access_policies", a, b},
		{"(jobs)", a, b},
		{"(jobs)", `"company":"` + a, `"company":"` + b + `","Company":"` + a}, // which workers could read as either
		{"(jobs)", `"kind":"agent_intake"`, `"kind":"backchannel_logout"`},     // which belongs to no company
		{"accounts", account, "acc_other"},                                     // a user of an account that the file does not bring
	} {
		lines := strings.SplitAfter(whole, "\n")
		n := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `["`+c.row) && strings.Contains(l, c.from) })
		require.Positive(t, n, c.row)
		lines[n] = strings.ReplaceAll(lines[n], c.from, c.to)
		forged := strings.Join(lines, "")
		to := testkit.SQLiteWorld(t)
		before := companies(t, to)
		_, err := importer(to).Import(system(t), sealed(t, forged), passphrase)
		require.ErrorIs(t, err, transfer.ErrForeign, c.row)
		require.Equal(t, before, companies(t, to))
	}
	to := testkit.SQLiteWorld(t)
	_, err := importer(to).Import(system(t), sealed(t, whole), passphrase)
	require.NoError(t, err, "the file as it was is taken")
}

// Every kind of job whose arguments have the company moves, and no other.
func TestKindsThatMove(t *testing.T) {
	t.Parallel()
	kind := regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+)\) Kind\(\) string +\{ return "(\w+)" \}`)
	var owned []string
	for path, source := range testkit.Sources(t, "internal") {
		for _, m := range kind.FindAllStringSubmatch(source, -1) {
			args := regexp.MustCompile(`(?s)\ntype ` + m[1] + ` struct ?\{.*?\n?\}`).FindString(source)
			require.NotEmpty(t, args, "%s: %s stands beside its Kind", path, m[1])
			if strings.Contains(args, `json:"company"`) {
				owned = append(owned, m[2])
			}
		}
	}
	require.ElementsMatch(t, transfer.Kinds, owned)
}

// Sign-ins stay in the old installation, and so do the tokens of applications.
func TestTokensStay(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, from *testkit.World) {
		who := from.A.Users[principal.Agent]
		require.NoError(t, from.Store.Write(system(t), func(ctx context.Context, tx *store.Tx) error {
			g, err := tx.Grant.Create().SetCompanyID(who.CompanyID).SetUserID(who.ID).SetClientID("cli_1").SetSignInID("sgn_1").SetScopes([]string{"offline_access"}).
				SetMethods([]string{"pwd"}).SetAuthenticatedAt(time.Now()).SetExpiresAt(time.Now().Add(time.Hour)).Save(ctx)
			if err != nil {
				return err
			}
			return tx.RefreshToken.Create().SetCompanyID(who.CompanyID).SetGrantID(g.ID).SetHash(make([]byte, 32)).SetExpiresAt(g.ExpiresAt).Exec(ctx)
		}))
		to := testkit.SQLiteWorld(t)
		_, err := importer(to).Import(system(t), export(t, from), passphrase)
		require.NoError(t, err)
		require.Zero(t, to.Store.Reader().RefreshToken.Query().CountX(system(t)))
		require.Equal(t, who.Email, to.Store.Reader().User.GetX(system(t), who.ID).Email)
	})
}

func system(t *testing.T) context.Context { return principal.System(t.Context(), "test") }

func sandboxOf(t *testing.T, w *testkit.World) string {
	t.Helper()
	id, err := w.Store.Reader().Company.Query().Where(company.SandboxOf(w.A.Company.ID)).OnlyID(system(t))
	require.NoError(t, err)
	return id
}

func companies(t *testing.T, w *testkit.World) int {
	t.Helper()
	n, err := w.Store.Reader().Company.Query().Count(system(t))
	require.NoError(t, err)
	return n
}

func insert(t *testing.T, w *testkit.World, list ...jobs.Job) {
	t.Helper()
	require.NoError(t, w.Store.Write(system(t), func(ctx context.Context, tx *store.Tx) error {
		return w.Queue.InsertManyTx(ctx, tx, list...)
	}))
}

// export returns the file of company A.
func export(t *testing.T, w *testkit.World) *bytes.Buffer {
	t.Helper()
	return exportWith(t, w, nil)
}

// exportWith returns the file of company A, whose files are in a store.
func exportWith(t *testing.T, w *testkit.World, from files.Store) *bytes.Buffer {
	t.Helper()
	ctx := system(t)
	key, err := merkle.OpenKey(ctx, w.Store.Reader(), w.Engine.Sealer)
	if err != nil {
		require.NoError(t, merkle.MakeKey(ctx, w.Store, w.Engine.Sealer))
		key, err = merkle.OpenKey(ctx, w.Store.Reader(), w.Engine.Sealer)
	}
	require.NoError(t, err)
	var file bytes.Buffer
	_, err = (&transfer.Exporter{Store: w.Store, Sealer: w.Engine.Sealer, Key: key, Files: from}).Export(ctx, w.A.Company.ID, passphrase, &file)
	require.NoError(t, err)
	return &file
}

func importer(w *testkit.World) *transfer.Importer {
	return &transfer.Importer{Store: w.Store, Sealer: w.Engine.Sealer, Queue: w.Queue, Accept: []string{"plan", "limits", "billing", "payment-method", "secret-hosts"}}
}

// opened returns the lines of a file.
func opened(t *testing.T, file io.Reader) string {
	t.Helper()
	id, err := age.NewScryptIdentity(passphrase)
	require.NoError(t, err)
	plain, err := age.Decrypt(file, id)
	require.NoError(t, err)
	z, err := gzip.NewReader(plain)
	require.NoError(t, err)
	lines, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(lines)
}

// sealed is the reverse of opened.
func sealed(t *testing.T, lines string) io.Reader {
	t.Helper()
	recipient, err := age.NewScryptRecipient(passphrase)
	require.NoError(t, err)
	recipient.SetWorkFactor(10)
	var file bytes.Buffer
	to, err := age.Encrypt(&file, recipient)
	require.NoError(t, err)
	z := gzip.NewWriter(to)
	_, err = io.WriteString(z, lines)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, to.Close())
	return &file
}
