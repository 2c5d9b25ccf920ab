package auditlog_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// noon is the time of the first generated entry, in a year without other entries.
var noon = time.Date(2020, 5, 1, 12, 0, 0, 0, time.UTC)

// made writes n entries, one second apart. Every third one has another actor, action and resource.
func made(t *testing.T, w *testkit.World, tenant *testkit.Tenant, n int) {
	t.Helper()
	err := w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		for i := range n {
			kind := fmt.Sprint(i % 3)
			err := tx.AuditEntry.Create().SetCreatedAt(noon.Add(time.Duration(i) * time.Second)).
				SetActorType("user").SetActorID("usr_" + kind).SetActorName("N").SetAction("thing.done" + kind).
				SetResourceType("Thing" + kind).SetResourceID("thing_" + kind).SetOutcome(auditentry.OutcomeAllowed).
				SetIP("").SetUserAgent("").SetRequestID(fmt.Sprint(i)).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
}

func list(t *testing.T, w *testkit.World, in auditlog.ListEntriesInput) paging.List[*ent.AuditEntry] {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), auditlog.ListEntries, in)
}

func TestFilters(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		made(t, w, w.A, 9)
		made(t, w, w.B, 30) // of another company: never in a list of A
		sixth := noon.Add(6 * time.Second)
		inTokyo := sixth.In(time.FixedZone("", 9*3600))
		before := noon.Add(time.Hour)
		for name, tc := range map[string]struct {
			in   auditlog.ListEntriesInput
			want int
		}{
			"actor":              {auditlog.ListEntriesInput{ActorID: []string{"usr_1"}}, 3},
			"actors":             {auditlog.ListEntriesInput{ActorID: []string{"usr_1", "usr_2", "usr_none"}}, 6},
			"action":             {auditlog.ListEntriesInput{Action: []string{"thing.done0"}}, 3},
			"action, in part":    {auditlog.ListEntriesInput{Action: []string{"thing.done"}}, 0},
			"action, other case": {auditlog.ListEntriesInput{Action: []string{"Thing.done0"}}, 0},
			"resource type":      {auditlog.ListEntriesInput{ResourceType: []string{"Thing0", "Thing1"}}, 6},
			"resource":           {auditlog.ListEntriesInput{ResourceID: []string{"thing_2"}}, 3},
			"all must match":     {auditlog.ListEntriesInput{ActorID: []string{"usr_1"}, Action: []string{"thing.done2"}}, 0},
			"until, exclusive":   {auditlog.ListEntriesInput{To: &sixth}, 6},
			"from, inclusive":    {auditlog.ListEntriesInput{From: &sixth, To: &before}, 3},
			"another zone":       {auditlog.ListEntriesInput{From: &inTokyo, To: &before}, 3},
			"nothing between":    {auditlog.ListEntriesInput{From: &sixth, To: &sixth}, 0},
			"actor and time":     {auditlog.ListEntriesInput{ActorID: []string{"usr_0"}, From: &sixth, To: &before}, 1},
		} {
			got := list(t, w, tc.in)
			require.Equal(t, tc.want, got.Total, name)
			require.Len(t, got.Rows, tc.want, name)
		}
	})
}

// TestTotalWithoutFiltersIsCounted compares the stored counter with a count after entries of every outcome.
func TestTotalWithoutFiltersIsCounted(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		before := list(t, w, auditlog.ListEntriesInput{}).Total
		testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Mail"})
		testkit.Refused(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Mail"}, apperr.Conflict)
		testkit.Refused(t, w, member, catalog.CreateService, catalog.CreateServiceInput{Name: "Post"}, apperr.Forbidden)

		got := list(t, w, auditlog.ListEntriesInput{})
		require.Equal(t, before+3, got.Total)
		n, err := w.Store.Reader().AuditEntry.Query().Count(owner)
		require.NoError(t, err)
		require.Equal(t, n, got.Total)
		outcomes := []auditentry.Outcome{got.Rows[0].Outcome, got.Rows[1].Outcome, got.Rows[2].Outcome}
		require.ElementsMatch(t, []auditentry.Outcome{"denied", "failed", "allowed"}, outcomes)
		for _, e := range got.Rows[:3] {
			require.Equal(t, "service.created", e.Action)
			require.Equal(t, "Service", e.ResourceType)
		}
	})
}

// TestDeepPages walks the log across the offset from which ids are fetched first, in both orders.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const n = 1250
		made(t, w, w.A, n)
		end := noon.Add(time.Hour)
		for _, sort := range []string{"", "at", "-at"} {
			seen := map[string]bool{}
			var last time.Time
			for page := 1; ; page++ {
				got := list(t, w, auditlog.ListEntriesInput{Page: paging.Page{Number: page, Size: 100, Sort: sort}, To: &end})
				require.Equal(t, n, got.Total)
				require.Equal(t, 13, got.Pages())
				if len(got.Rows) == 0 {
					require.Equal(t, 14, page)
					break
				}
				for _, e := range got.Rows {
					require.False(t, seen[e.ID])
					seen[e.ID] = true
					if !last.IsZero() {
						require.Equal(t, sort == "at", e.CreatedAt.After(last))
					}
					last = e.CreatedAt
				}
			}
			require.Len(t, seen, n)
		}
	})
}

func TestWhoMayRead(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for role, want := range map[principal.Role]bool{principal.Owner: true, principal.Admin: true, principal.Agent: false, principal.Member: false} {
			_, _, err := op.Run(w.As(w.A, role), w.Engine, auditlog.ListEntries, auditlog.ListEntriesInput{}, nil)
			if want {
				require.NoError(t, err, role)
				continue
			}
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), role)
		}
		p, _ := principal.From(w.As(w.A, principal.Owner))
		key := *p
		key.Scopes = principal.AllScopes &^ principal.ScopeOf("audit:read")
		_, _, err := op.Run(principal.With(t.Context(), &key), w.Engine, auditlog.ListEntries, auditlog.ListEntriesInput{}, nil)
		require.Equal(t, "audit:read", apperr.From(err).Reason)
	})
}

func TestParameters(t *testing.T) {
	t.Parallel()
	in, err := auditlog.ListEntries.Decode(nil, nil, url.Values{
		"actorId": {"usr_1", "key_2"}, "action": {"request.created"}, "from": {"2026-01-01T00:00:00Z"}, "sort": {"-createdAt"}, "outcome": {"denied", "failed"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"usr_1", "key_2"}, in.ActorID)
	require.Equal(t, 2026, in.From.Year())
	require.Equal(t, []string{"denied", "failed"}, in.Outcome)
	for _, tc := range []struct{ name, value string }{
		{"sort", "action"}, {"from", "yesterday"}, {"to", "2026-01-01"}, {"outcome", "odd"}, {"actorId", "\x00"}, {"pageSize", "101"}, {"page", "0"},
	} {
		_, err := auditlog.ListEntries.Decode(nil, nil, url.Values{tc.name: {tc.value}})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err), tc.name)
		require.Equal(t, tc.name, apperr.From(err).Details[0].Field)
	}
}
