package request_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	filed "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// lives are requests that have been through random lives, each step of which is an operation.
type lives struct {
	*testkit.World
	t         *testing.T
	random    *rand.Rand
	offerings []*ent.Offering
	teams     []string
	started   time.Time
}

func newLives(t *testing.T, w *testkit.World) *lives {
	t.Helper()
	l := &lives{World: w, t: t, random: rand.New(rand.NewPCG(7, 11)), started: w.Clock.Now()}
	owner := w.As(w.A, principal.Owner)
	office := testkit.Run(t, w, owner, people.CreateOrganization, people.CreateOrganizationInput{Name: "Berlin"})
	for i, organization := range []*string{&office.ID, nil} {
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint("Service ", i), OrganizationID: organization})
		for k := range 2 {
			o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{
				ByID: op.ByID{ID: s.ID}, Name: fmt.Sprint("Offering ", k), AskSatisfaction: new(true), SLA: &catalog.SLA{ResponseMinutes: new(600), ResolutionMinutes: new(3000)},
			})
			l.offerings = append(l.offerings, o)
		}
		l.teams = append(l.teams, testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: fmt.Sprint("Team ", i)}).ID)
	}
	return l
}

// pass lets up to some minutes pass.
func (l *lives) pass(most int) {
	l.Clock.SetOffset(l.Clock.Offset() + time.Duration(l.random.IntN(most*60))*time.Second)
}

// step does something to a request, if its state allows it.
func (l *lives) step(requestID string) {
	staff, member := l.As(l.A, principal.Owner), l.As(l.A, principal.Member)
	update := func(in request.UpdateInput) error {
		in.ByID = op.ByID{ID: requestID}
		_, _, err := op.Run(staff, l.Engine, request.Update, in, nil)
		return err
	}
	var err error
	switch l.random.IntN(8) {
	case 0, 1:
		err = update(request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
	case 2, 3:
		err = update(request.UpdateInput{Status: op.SetTo("COMPLETED")})
	case 4:
		if l.random.IntN(3) == 0 {
			err = update(request.UpdateInput{Status: op.SetTo("CANCELLED")})
		}
	case 5:
		err = update(request.UpdateInput{AssigneeID: op.SetTo(l.A.Users[principal.Agent].ID), Priority: op.SetTo([]string{"LOW", "URGENT"}[l.random.IntN(2)])})
	case 6:
		_, _, err = op.Run(staff, l.Engine, request.Move, request.MoveInput{ByID: op.ByID{ID: requestID}, OfferingID: l.offerings[l.random.IntN(len(l.offerings))].ID}, nil)
	default:
		_, _, err = op.Run(member, l.Engine, request.Rate, request.RateInput{ByID: op.ByID{ID: requestID}, Satisfaction: 1 + l.random.IntN(5)}, nil)
	}
	require.Contains(l.t, []apperr.Code{"", apperr.Conflict, apperr.Forbidden}, codeOf(err), "%v", err)
}

func codeOf(err error) apperr.Code {
	if err == nil {
		return ""
	}
	return apperr.CodeOf(err)
}

// live files requests and takes them through their lives.
func (l *lives) live(requests, steps int) {
	var ids []string
	for n := range requests + steps {
		l.pass(24 * 60)
		if n%(1+steps/requests) != 0 && len(ids) > 0 {
			l.step(ids[l.random.IntN(len(ids))])
			continue
		}
		o := l.offerings[l.random.IntN(len(l.offerings))]
		in := request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: fmt.Sprint("Request ", len(ids)%3)}
		as := l.As(l.A, []principal.Role{principal.Member, principal.Owner}[l.random.IntN(2)])
		if team := l.random.IntN(3); team < len(l.teams) && as == l.As(l.A, principal.Owner) {
			in.TeamID = &l.teams[team]
		}
		ids = append(ids, testkit.Run(l.t, l.World, as, request.Create, in).ID)
	}
}

// listed reads all requests that a caller's list has.
func listed(t *testing.T, w *testkit.World, as context.Context, in request.ListInput) (all []*ent.Request) {
	t.Helper()
	for n := 1; ; n++ {
		in.Page = paging.Page{Number: n, Size: 100}
		list := testkit.Run(t, w, as, request.List, in)
		all = append(all, list.Rows...)
		if n >= list.Pages() {
			return all
		}
	}
}

// figuresOf computes figures in the plainest way.
func figuresOf(rows []*ent.Request, filedIn, endedIn func(time.Time, *ent.Request) bool) request.Figures {
	f := request.Figures{}
	var responses, resolutions []int
	stars := 0
	for _, r := range rows {
		if r.CompletedAt != nil && endedIn(*r.CompletedAt, r) {
			f.Completed++
		}
		if r.CancelledAt != nil && endedIn(*r.CancelledAt, r) {
			f.Cancelled++
		}
		if !filedIn(r.CreatedAt, r) {
			continue
		}
		f.Filed++
		if lifecycle.RequestOpen(r.Status) {
			f.Open++
		}
		if r.ReopenCount > 0 {
			f.Reopened++
		}
		if r.AcceptedAt != nil {
			responses = append(responses, int(r.AcceptedAt.Sub(r.CreatedAt).Minutes()))
		}
		if r.CompletedAt != nil {
			resolutions = append(resolutions, int(r.CompletedAt.Sub(r.CreatedAt).Minutes()))
		}
		if r.SLAState != nil && *r.SLAState == filed.SLAStateMET {
			f.SLAMet++
		}
		if r.SLAState != nil && *r.SLAState == filed.SLAStateBREACHED {
			f.SLAMissed++
		}
		if r.Satisfaction != nil {
			f.Ratings++
			stars += *r.Satisfaction
		}
	}
	f.FirstResponseP50, f.FirstResponseP90 = rankOf(responses, 50), rankOf(responses, 90)
	f.ResolutionP50, f.ResolutionP90 = rankOf(resolutions, 50), rankOf(resolutions, 90)
	if f.Ratings > 0 {
		f.Satisfaction = new(float64(stars) / float64(f.Ratings))
	}
	return f
}

// rankOf returns the smallest value that at least so many percent do not exceed.
func rankOf(values []int, percent int) *int {
	sort.Ints(values)
	for i, v := range values {
		if (i+1)*100 >= len(values)*percent {
			return &v
		}
	}
	return nil
}

// bare leaves what only the report keeps out of figures.
func bare(f request.Figures) request.Figures {
	return request.Figures{
		Filed: f.Filed, Completed: f.Completed, Cancelled: f.Cancelled, Open: f.Open, Reopened: f.Reopened, FirstResponseP50: f.FirstResponseP50,
		FirstResponseP90: f.FirstResponseP90, ResolutionP50: f.ResolutionP50, ResolutionP90: f.ResolutionP90, SLAMet: f.SLAMet, SLAMissed: f.SLAMissed,
		Ratings: f.Ratings, Satisfaction: f.Satisfaction,
	}
}

// compare compares a report with what the list's rows come to.
func (l *lives) compare(as context.Context, in request.ReportInput) {
	t := l.t
	t.Helper()
	said := fmt.Sprintf("%s to %s, %s, %s, %+v", in.From, in.To, in.Over, in.TimeZone, in.ListInput)
	r := testkit.Run(t, l.World, as, request.Report, in)
	rows := listed(t, l.World, as, in.ListInput)
	zone, err := time.LoadLocation(in.TimeZone)
	require.NoError(t, err)
	within := func(from, to time.Time) func(time.Time, *ent.Request) bool {
		return func(at time.Time, _ *ent.Request) bool { return !at.Before(from) && at.Before(to) }
	}
	now, before := within(*in.From, *in.To), within(period.Before(*in.From, *in.To, zone), *in.From)
	require.Equal(t, figuresOf(rows, now, now), bare(*r.Total), said)
	require.Equal(t, figuresOf(rows, before, before), bare(*r.Before), said)

	var keys []string
	for _, step := range r.Over {
		keys = append(keys, *step.Key)
		in := func(at time.Time, q *ent.Request) bool {
			return now(at, q) && stepOf(in.Over, at.In(zone)) == *step.Key
		}
		require.Equal(t, figuresOf(rows, in, in), bare(step.Figures), "%s: %s", said, *step.Key)
	}
	var want []string
	for at := *in.From; at.Before(*in.To); at = at.Add(30 * time.Minute) {
		want = append(want, stepOf(in.Over, at.In(zone)))
	}
	require.Equal(t, slices.Compact(want), keys, said)
	for i, by := range in.By {
		require.Equal(t, by, r.Groups[i].By)
		l.compareGroup(r.Groups[i], rows, now, said)
	}
}

// stepOf names the step of a time in its zone.
func stepOf(by string, at time.Time) string {
	switch by {
	case "week":
		for at.Weekday() != time.Monday {
			at = at.AddDate(0, 0, -1)
		}
	case "month":
		return at.Format("2006-01") + "-01"
	}
	return at.Format(time.DateOnly)
}

func (l *lives) compareGroup(g *request.FigureGroup, rows []*ent.Request, now func(time.Time, *ent.Request) bool, said string) {
	organization := map[string]string{}
	services, err := l.Store.Reader().Service.Query().All(l.As(l.A, principal.Owner))
	require.NoError(l.t, err)
	for _, s := range services {
		organization[s.ID] = op.Or(s.OrganizationID, "none")
	}
	keyOf := map[string]func(r *ent.Request) string{
		"service": func(r *ent.Request) string { return r.ServiceID }, "offering": func(r *ent.Request) string { return r.OfferingID },
		"team": func(r *ent.Request) string { return op.Or(r.TeamID, "none") }, "assignee": func(r *ent.Request) string { return op.Or(r.AssigneeID, "none") },
		"priority": func(r *ent.Request) string { return string(r.Priority) }, "organization": func(r *ent.Request) string { return organization[r.ServiceID] },
	}[g.By]
	want, got := map[string]request.Figures{}, map[string]request.Figures{}
	for _, r := range rows {
		key := keyOf(r)
		in := func(at time.Time, q *ent.Request) bool { return now(at, q) && keyOf(q) == key }
		if f := figuresOf(rows, in, in); f.Filed+f.Completed+f.Cancelled > 0 {
			want[key] = f
		}
	}
	for i, row := range g.Rows {
		got[op.Or(row.Key, "none")] = bare(row.Figures)
		if i > 0 {
			require.GreaterOrEqual(l.t, g.Rows[i-1].Figures.Filed, row.Figures.Filed)
		}
	}
	require.Equal(l.t, want, got, "%s by %s", said, g.By)
}
