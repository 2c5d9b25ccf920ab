package auditlog_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/auditlog"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestExports(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		p, _ := principal.From(w.As(w.A, principal.Owner))
		evil := *p
		evil.UserAgent = `=HYPERLINK("https://evil.test")`
		ctx := principal.With(t.Context(), &evil)
		for _, name := range []string{"One, \"two\"", "Three\nfour"} {
			testkit.Run(t, w, ctx, people.CreateTeam, people.CreateTeamInput{Name: name})
		}
		filter := auditlog.ListEntriesInput{Action: []string{"team.created"}}

		lines := testkit.Run(t, w, ctx, auditlog.ReadExport, auditlog.ExportInput{ListEntriesInput: filter, Format: "jsonl"})
		require.Equal(t, 2, lines.Count)
		require.False(t, lines.Truncated)
		first, second, _ := strings.Cut(strings.TrimSpace(lines.Content), "\n")
		for i, line := range []string{second, first} { // newest first
			var e struct {
				ID, At, Action, Outcome, UserAgent string
				Actor                              struct{ Type, ID, Name string }
				Resource                           struct{ Type, ID string }
				IP                                 *string
				Changes                            map[string]audit.Change
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e), line)
			require.Equal(t, "team.created", e.Action)
			require.Equal(t, "allowed", e.Outcome)
			require.Equal(t, w.A.Owner.ID, e.Actor.ID)
			require.Equal(t, "Team", e.Resource.Type)
			require.Equal(t, evil.UserAgent, e.UserAgent)
			require.Nil(t, e.IP)
			require.Equal(t, []string{"One, \"two\"", "Three\nfour"}[i], e.Changes["name"].To)
			_, err := time.Parse(clock.Format, e.At)
			require.NoError(t, err)
		}

		table := testkit.Run(t, w, ctx, auditlog.ReadExport, auditlog.ExportInput{ListEntriesInput: filter, Format: "csv"})
		rows, err := csv.NewReader(strings.NewReader(table.Content)).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 3)
		require.Equal(t, []string{"id", "at", "actor.type", "actor.id", "actor.name", "action", "resource.type", "resource.id", "outcome", "ip", "userAgent", "requestId", "changes"}, rows[0])
		require.Equal(t, `'=HYPERLINK("https://evil.test")`, rows[1][10], "a spreadsheet must not take it for a formula")

		none := testkit.Run(t, w, w.As(w.B, principal.Owner), auditlog.ReadExport, auditlog.ExportInput{ListEntriesInput: filter, Format: "csv"})
		require.Zero(t, none.Count)
		require.Equal(t, 1, strings.Count(none.Content, "\n"), "headings alone")
	})
}

// An export is itself recorded in the log, with its filters.
func TestExportsAreAudited(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		testkit.Run(t, w, ctx, auditlog.Export, auditlog.ExportInput{ListEntriesInput: auditlog.ListEntriesInput{ActorID: []string{"usr_1"}, From: &from}, Format: "csv"})
		e, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("audit.exported")).Only(ctx)
		require.NoError(t, err)
		require.Equal(t, "AuditEntry", e.ResourceType)
		require.Nil(t, e.ResourceID)
		require.JSONEq(t, `{"format":{"from":null,"to":"csv"},"filter":{"from":null,"to":{"actorId":["usr_1"],"from":"2026-01-02T03:04:05.000Z"}}}`, string(e.Changes))
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, role), auditlog.Export, auditlog.ExportInput{Format: "csv"}, apperr.Forbidden, role)
		}
		_, _, err = op.Run(ctx, w.Engine, auditlog.Export, auditlog.ExportInput{Format: "pdf"}, nil)
		require.Equal(t, "format", apperr.From(err).Details[0].Field)
		got := testkit.Run(t, w, ctx, auditlog.GetEntry, op.ByID{ID: e.ID})
		require.Equal(t, e.ID, got.ID)
		testkit.Refused(t, w, w.As(w.B, principal.Owner), auditlog.GetEntry, op.ByID{ID: e.ID}, apperr.NotFound)
	})
}

// A long log is exported up to the limits of one export, and says that older entries match too.
func TestExportsAreBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		p, _ := principal.From(ctx)
		write := func(n int, what string) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				for range n {
					e := audit.By(p)
					e.Action, e.Resource, e.ResourceID = "note.made", "Note", "n"
					e.Changes = map[string]audit.Change{"what": {To: what}}
					if err := audit.Write(ctx, tx.Client, e); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		read := func(format string) *auditlog.Exported {
			in := auditlog.ExportInput{ListEntriesInput: auditlog.ListEntriesInput{Action: []string{"note.made"}}, Format: format}
			return testkit.Run(t, w, ctx, auditlog.ReadExport, in)
		}
		write(auditlog.MaxExport, "short")
		all := read("jsonl")
		require.Equal(t, auditlog.MaxExport, all.Count)
		require.Equal(t, all.Count, strings.Count(all.Content, "\n"))
		require.False(t, all.Truncated)
		write(1, "short")
		require.True(t, read("csv").Truncated)

		write(70, strings.Repeat("x", auditlog.MaxExportBytes/16)) // more than one call may read at once
		ctx = store.ForCall(ctx)
		for range 4 {
			long := read("csv")
			require.Equal(t, 15, long.Count)
			require.True(t, long.Truncated)
		}
		_, _, err := op.Run(ctx, w.Engine, auditlog.ReadExport, auditlog.ExportInput{Format: "csv"}, nil)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err), "the texts of a call's exports count together")
	})
}

// A company whose callers export and verify leaves places to others. Who finds none waits no longer than their call. It runs alone, and
// in one world, because the places are the process's.
func TestOneCompanyLeavesPlacesToOthers(t *testing.T) {
	w := testkit.SQLiteWorld(t)
	for _, places := range []interface {
		Take(ctx context.Context, companyID string) (func(), error)
	}{auditlog.Exporting, auditlog.Verifying} {
		leave, err := places.Take(t.Context(), w.A.Company.ID)
		require.NoError(t, err)
		t.Cleanup(leave)
	}
	export := auditlog.ExportInput{Format: "csv"}
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, _, err := op.Run(ctx, w.Engine, auditlog.ReadExport, export, nil)
			return err
		},
		func(ctx context.Context) error {
			_, _, err := op.Run(ctx, w.Engine, auditlog.Verify, auditlog.VerifyInput{}, nil)
			return err
		},
	} {
		hurried, stop := context.WithTimeout(w.As(w.A, principal.Owner), 300*time.Millisecond)
		require.Equal(t, apperr.Unavailable, apperr.CodeOf(run(hurried)))
		stop()
	}
	testkit.Run(t, w, w.As(w.B, principal.Owner), auditlog.ReadExport, export)
	testkit.Run(t, w, w.As(w.B, principal.Owner), auditlog.Verify, auditlog.VerifyInput{})
}
