package billing_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/ent/creditentry"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// operator returns the context of the command line, the only caller that may issue credits.
func operator(t *testing.T, tenant *testkit.Tenant) context.Context {
	return principal.With(t.Context(), principal.Operator(tenant.Company.ID, "credit issue"))
}

func credits(t *testing.T, w *testkit.World, page, size int) billing.Credits {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Admin), billing.GetCredits, billing.GetCreditsInput{Page: page, PageSize: size})
}

func TestBalanceIsTheSumOfTheLedger(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		none := credits(t, w, 0, 0)
		require.Zero(t, none.Balance)
		require.Equal(t, "usd", none.Currency)
		require.Empty(t, none.Entries.Rows)

		e := testkit.Run(t, w, operator(t, w.A), billing.IssueCredit, billing.IssueCreditInput{Amount: 5000, Reason: "promotion", Description: "Welcome"})
		require.Equal(t, creditentry.TypeIssued, e.Type)
		testkit.Run(t, w, operator(t, w.B), billing.IssueCredit, billing.IssueCreditInput{Amount: 7, Reason: "adjustment", Description: "Of b"})

		got := credits(t, w, 0, 0)
		require.Equal(t, int64(5000), got.Balance)
		require.Len(t, got.Entries.Rows, 1)
		require.Nil(t, got.Entries.Rows[0].InvoiceID)

		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("credit.issued")).Only(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.Equal(t, e.ID, *entry.ResourceID)
		require.Equal(t, "operator", entry.ActorType)
		require.Contains(t, string(entry.Changes), `5000`)
	})
}

func TestHistoryIsPaged(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const n = 105
		for i := range n {
			testkit.Run(t, w, operator(t, w.A), billing.IssueCredit, billing.IssueCreditInput{Amount: int64(i + 1), Reason: "promotion", Description: "C"})
		}
		for _, tc := range []struct{ page, size, entries, first int }{
			{0, 0, 20, 105}, {1, 100, 100, 105}, {2, 100, 5, 5}, {3, 100, 0, 0}, {2, 50, 50, 55}, {math.MaxInt, 100, 0, 0}, {math.MaxInt, 1, 0, 0},
		} {
			got := credits(t, w, tc.page, tc.size)
			require.Equal(t, int64(n*(n+1)/2), got.Balance, "of the whole history, on every page")
			require.Len(t, got.Entries.Rows, tc.entries)
			if tc.entries > 0 {
				require.Equal(t, int64(tc.first), got.Entries.Rows[0].Amount)
				require.Equal(t, int64(tc.first*(tc.first+1)/2), got.Entries.Rows[0].Balance, "what was left after it")
			}
		}
	})
}

func TestWhoMayIssueAndRead(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		in := billing.IssueCreditInput{Amount: 1, Reason: "promotion", Description: "For me"}
		for role, reads := range map[principal.Role]bool{principal.Owner: true, principal.Admin: true, principal.Agent: false, principal.Member: false} {
			testkit.Refused(t, w, w.As(w.A, role), billing.IssueCredit, in, apperr.Forbidden, role)
			_, _, err := op.Run(w.As(w.A, role), w.Engine, billing.GetCredits, billing.GetCreditsInput{}, nil)
			if reads {
				require.NoError(t, err, role)
				continue
			}
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), role)
		}
		require.Zero(t, credits(t, w, 0, 0).Balance)
	})
}

func TestIssueRefuses(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		good := billing.IssueCreditInput{Amount: 100_000_000, Reason: "downgrade", Description: strings.Repeat("é", 500)}
		testkit.Run(t, w, operator(t, w.A), billing.IssueCredit, good)
		for field, spoil := range map[string]func(*billing.IssueCreditInput){
			"amount":        func(in *billing.IssueCreditInput) { in.Amount = 0 },
			"amount ":       func(in *billing.IssueCreditInput) { in.Amount = -5 },
			"amount  ":      func(in *billing.IssueCreditInput) { in.Amount = 100_000_001 },
			"reason":        func(in *billing.IssueCreditInput) { in.Reason = "invoice" },
			"description  ": func(in *billing.IssueCreditInput) { in.Description = strings.Repeat("d", 501) },
			"description ":  func(in *billing.IssueCreditInput) { in.Description = " \t" },
			"description":   func(in *billing.IssueCreditInput) { in.Description = "" },
		} {
			in := good
			spoil(&in)
			require.Equal(t, strings.TrimSpace(field), testkit.Refused(t, w, operator(t, w.A), billing.IssueCredit, in, apperr.Validation, field).Details[0].Field)
		}
		require.Equal(t, int64(100_000_000), credits(t, w, 0, 0).Balance)
	})
}
