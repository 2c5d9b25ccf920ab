package auditlog_test

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/internal/op"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/op/auditlog"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// The results of the operations are verified with tlog and the public key alone.
func TestProofsAndExports(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		for _, name := range []string{"One <b>", "Two", "Three"} {
			testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: name})
		}
		waiting := list(t, w, auditlog.ListEntriesInput{Action: []string{"team.created"}}).Rows[0]
		require.Nil(t, waiting.Index)
		testkit.Refused(t, w, owner, auditlog.Prove, op.ByID{ID: waiting.ID}, apperr.Conflict)
		require.NoError(t, merkle.MakeKey(t.Context(), w.Store, w.Engine.Sealer))
		key, err := merkle.OpenKey(t.Context(), w.Store.Reader(), w.Engine.Sealer)
		require.NoError(t, err)
		require.NoError(t, merkle.NewSealer(w.Store, slog.New(slog.DiscardHandler)).SealAll(t.Context()))

		report := testkit.Run(t, w, owner, auditlog.Verify, auditlog.VerifyInput{})
		require.True(t, report.Intact, report.Reason)
		for _, e := range list(t, w, auditlog.ListEntriesInput{}).Rows {
			p := testkit.Run(t, w, owner, auditlog.Prove, op.ByID{ID: e.ID})
			require.Equal(t, *e.Index, p.Index)
			head, err := merkle.OpenCheckpoint(p.Checkpoint, key.Public)
			require.NoError(t, err)
			require.Equal(t, merkle.Checkpoint{Company: w.A.Company.ID, Size: p.Size, Root: head.Root}, head)
			var path tlog.RecordProof
			for _, s := range p.Path {
				h, err := tlog.ParseHash(s)
				require.NoError(t, err)
				path = append(path, h)
			}
			require.NoError(t, tlog.CheckRecord(path, p.Size, head.Root, p.Index, tlog.RecordHash(p.Leaf)))
			testkit.Refused(t, w, w.As(w.B, principal.Owner), auditlog.Prove, op.ByID{ID: e.ID}, apperr.NotFound)
		}

		out := testkit.Run(t, w, owner, auditlog.ReadExport, auditlog.ExportInput{Format: "jsonl"})
		got, err := merkle.VerifyExport(strings.NewReader(out.Content), key.Public)
		require.NoError(t, err)
		require.True(t, got.Intact, got.Reason)
		require.EqualValues(t, out.Count, got.Sealed)
		lines := strings.SplitAfter(out.Content, "\n")
		first := lines[len(lines)-2]
		stripped := regexp.MustCompile(`"index":\d+`).ReplaceAllString(first, `"index":null`)
		stripped = regexp.MustCompile(`"at":"[^"]*"`).ReplaceAllString(stripped, `"at":"2020-01-01T00:00:00Z"`)
		for what, changed := range map[string]string{
			"an entry twice":          out.Content + first,
			"an old one without seal": strings.TrimSuffix(out.Content, first) + stripped,
			"a value":                 strings.Replace(out.Content, `"Two"`, `"Twx"`, 1),
			"an action":               strings.Replace(out.Content, "team.created", "team.deleted", 1),
		} {
			got, err := merkle.VerifyExport(strings.NewReader(changed), key.Public)
			require.NoError(t, err)
			require.NotNil(t, got.BrokenAt, what)
		}
		_, err = merkle.VerifyExport(strings.NewReader(""), key.Public)
		require.Error(t, err, "it proves nothing")
		other := strings.Replace(key.Public, "atrium-audit", "other", 1)
		_, err = merkle.VerifyExport(strings.NewReader(out.Content), other)
		require.Error(t, err)
	})
}
