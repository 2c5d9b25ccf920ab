package reportmail_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/reportmail"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A subscription is its reader's alone: neither a colleague nor an admin nor a neighbour sees it, changes it or ends it.
func TestOnesOwn(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		staff := d.As(d.A, principal.Agent)
		mine := d.subscribe(principal.Agent, "priority=URGENT,HIGH&by=team")
		require.Equal(t, d.A.Users[principal.Agent].ID, mine.UserID)
		require.Equal(t, d.monday(), mine.NextAt.UTC())
		id := op.ByID{ID: mine.ID}
		for _, other := range []context.Context{
			d.As(d.A, principal.Owner), d.As(d.A, principal.Admin), d.As(d.A, principal.Member), d.As(d.B, principal.Owner),
		} {
			require.Empty(t, testkit.Run(t, d.World, other, reportmail.List, reportmail.ListInput{}).Rows)
			testkit.Refused(t, d.World, other, reportmail.Get, id, apperr.NotFound)
			testkit.Refused(t, d.World, other, reportmail.Update, reportmail.UpdateInput{ByID: id, Name: op.SetTo("Ours")}, apperr.NotFound)
			testkit.Refused(t, d.World, other, reportmail.Delete, id, apperr.NotFound)
		}
		renamed := testkit.Run(t, d.World, staff, reportmail.Update, reportmail.UpdateInput{ByID: id, Name: op.SetTo("Ours")})
		require.Equal(t, "Ours", renamed.Name)
		require.Len(t, testkit.Run(t, d.World, staff, reportmail.List, reportmail.ListInput{}).Rows, 1)
		testkit.Run(t, d.World, staff, reportmail.Delete, id)
		require.Empty(t, testkit.Run(t, d.World, staff, reportmail.List, reportmail.ListInput{}).Rows)
	})
}

// Staff have at most ten reports mailed; members, who see no reports, have none.
func TestWhoMaySubscribe(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for range 10 {
			d.subscribe(principal.Agent, "")
		}
		in := reportmail.CreateInput{Name: "One more"}
		testkit.Refused(t, d.World, d.As(d.A, principal.Agent), reportmail.Create, in, apperr.Conflict)
		testkit.Run(t, d.World, d.As(d.A, principal.Admin), reportmail.Create, in)
		testkit.Refused(t, d.World, d.As(d.A, principal.Member), reportmail.Create, in, apperr.Forbidden)
		robot := &principal.Principal{
			CompanyID: d.A.Company.ID, Type: principal.TypeServiceAccount, ID: "sa_1", Role: principal.Admin, Scopes: principal.AllScopes,
		}
		testkit.Refused(t, d.World, principal.With(context.Background(), robot), reportmail.Create, in, apperr.Forbidden)
	})
}

// The filters are those of the report, without its time; a refusal names the parameter.
func TestFiltersAreThoseOfTheReport(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for _, query := range []string{"", "teamId=tea_1,none&by=team,priority", "tag.site=berlin&status=PENDING&q=laptop"} {
			d.subscribe(principal.Admin, query)
		}
		for query, says := range map[string]string{
			"priority=SOON": "Has a parameter priority that is not valid: ",
			"colour=red":    "Has a parameter colour that is not valid: Is not a known parameter.",
			"by=team,team":  "Has a parameter by that is not valid: Must not name anything twice.", "page=2": "Has a parameter page that is not valid: ",
			"from=2026-01-01T00:00:00Z": "Must not have from: a mail is of the week before.",
			"timeZone=UTC":              "Must not have timeZone: ", "over=day": "Must not have over: ",
			"priority=%zz": "Must be parameters joined by '&', percent-encoded.",
		} {
			in := reportmail.CreateInput{Name: "x", Query: query}
			refused := testkit.Refused(t, d.World, d.As(d.A, principal.Admin), reportmail.Create, in, apperr.Validation, query)
			require.Len(t, refused.Details, 1, query)
			require.Equal(t, "query", refused.Details[0].Field, query)
			require.Contains(t, refused.Details[0].Message, says, query)
		}
	})
}

// Reports come on Mondays at seven where their reader is, also in the weeks in which clocks change.
func TestNextMonday(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, after, want string }{
		{"Europe/Berlin", "2026-11-30T05:59:59Z", "2026-11-30T06:00:00Z"}, // a Monday
		{"Europe/Berlin", "2026-11-30T06:00:00Z", "2026-12-07T06:00:00Z"},
		{"Europe/Berlin", "2026-03-23T06:00:00Z", "2026-03-30T05:00:00Z"}, // summer time begins on the Sunday between
		{"Europe/Berlin", "2026-10-19T05:00:00Z", "2026-10-26T06:00:00Z"}, // and ends
		{"Asia/Kathmandu", "2026-11-30T06:00:00Z", "2026-12-07T01:15:00Z"},
		{"Pacific/Kiritimati", "2026-11-29T16:00:00Z", "2026-11-29T17:00:00Z"}, // Sunday in London
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		after, err := time.Parse(time.RFC3339, c.after)
		require.NoError(t, err)
		next, err := reportmail.NextMonday(after, zone)
		require.NoError(t, err)
		require.Equal(t, c.want, next.UTC().Format(time.RFC3339), fmt.Sprint(c))
	}
}
