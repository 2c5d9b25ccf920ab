package doors

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// reportOf asks for all that a report shows.
const reportOf = `query($from: Time!, $to: Time!, $filter: RequestFilter, $over: ReportStep!, $zone: String, $by: [ReportBy!]) {
  requestReport(from: $from, to: $to, filter: $filter, over: $over, timeZone: $zone, by: $by) {
    timeZone total { ...figures } before { ...figures } over { key figures { ...figures } } groups { by rows { key figures { ...figures } } }
  }
}
fragment figures on RequestFigures {
  filed completed cancelled open reopened firstResponseP50 firstResponseP90 resolutionP50 resolutionP90 slaMet slaMissed ratings satisfaction
}`

// reported files some requests of A: two of a service in an organization, of which one is completed, and one that a policy hides from
// agents.
func reported(t *testing.T, s *apitest.Server) {
	t.Helper()
	do := func(as apitest.Caller, method, path string, b vars) string {
		return s.Do(t, apitest.Scenario{As: as, Method: method, Path: path, Body: b}).ID()
	}
	organization := do(s.A.OwnerKey, http.MethodPost, "/v1/organizations", vars{"name": "=HYPERLINK(1)"})
	service := do(s.A.OwnerKey, http.MethodPost, "/v1/services", vars{"name": "+1", "organizationId": organization})
	offering := do(s.A.OwnerKey, http.MethodPost, "/v1/services/"+service+"/offerings", vars{"name": "-1"})
	file := func(title string, more vars) string {
		b := vars{"serviceId": service, "offeringId": offering, "title": title}
		for k, v := range more {
			b[k] = v
		}
		return do(s.A.OwnerKey, http.MethodPost, "/v1/requests", b)
	}
	done := file("Seen", vars{"priority": "HIGH", "assigneeId": s.A.Agent.UserID})
	for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
		do(s.A.OwnerKey, http.MethodPatch, "/v1/requests/"+done, vars{"status": status})
	}
	file("Mine", vars{"requesterId": s.A.Member.UserID})
	file("Hidden", nil)
	c := policy.NewCondition([]byte(`{"resource.title": "Hidden", "principal.role": "agent"}`))
	testkit.Run(t, s.World, s.World.As(s.A.Tenant, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
}

// Both doors answer a report alike, to every caller, and refuse it alike; nobody's has what their list has not.
func TestReportsAreAlike(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		reported(t, s)
		now := s.World.Clock.Now().UTC().Truncate(time.Second)
		from, to := now.AddDate(0, 0, -3).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)
		all := "service,offering,team,assignee,organization,priority"
		for name, c := range map[string]struct {
			as    apitest.Caller
			query string // of REST, with the time
			in    vars   // of GraphQL, without it
			filed int
			code  string
		}{
			"of an owner":       {s.A.OwnerKey, "over=day&by=" + all, vars{"over": "day", "by": strings.Split(all, ",")}, 3, ""},
			"of an agent":       {s.A.AgentKey, "over=week&by=team&by=priority", vars{"over": "week", "by": []string{"team", "priority"}}, 2, ""},
			"of a member":       {s.A.Member, "over=month&timeZone=Asia/Tokyo", vars{"over": "month", "zone": "Asia/Tokyo"}, 1, ""},
			"another company's": {s.B.OwnerKey, "over=day", vars{"over": "day"}, 0, ""},
			"filtered":          {s.A.AgentKey, "over=day&priority=HIGH,URGENT&assigneeId=" + s.A.Agent.UserID, vars{"over": "day", "filter": vars{"priority": []string{"HIGH", "URGENT"}, "assigneeId": []string{s.A.Agent.UserID}}}, 1, ""},
			"no such zone":      {s.A.AgentKey, "over=day&timeZone=Mars/Olympus", vars{"over": "day", "zone": "Mars/Olympus"}, 0, "validation_error"},
			"twice":             {s.A.AgentKey, "over=day&by=team,team", vars{"over": "day", "by": []string{"team", "team"}}, 0, "validation_error"},
			"nobody's":          {apitest.Nobody, "over=day", vars{"over": "day"}, 0, "unauthorized"},
		} {
			c.in["from"], c.in["to"] = from, to
			r := s.Send(t, apitest.Scenario{As: c.as, Method: http.MethodGet, Path: "/v1/reports/requests?from=" + from + "&to=" + to + "&" + c.query})
			g := s.Send(t, apitest.Scenario{As: c.as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": reportOf, "variables": c.in}})
			if c.code == "unauthorized" {
				require.Equal(t, http.StatusUnauthorized, r.Status, name)
				require.NotContains(t, string(g.Body), "filed", name)
				continue
			}
			if c.code != "" {
				require.Equal(t, c.code, r.Text("error"), "%s: %s", name, r.Body)
				require.Equal(t, c.code, g.Text("errors.0.extensions.code"), "%s: %s", name, g.Body)
				require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), name)
				continue
			}
			require.Equal(t, http.StatusOK, r.Status, "%s: %s", name, r.Body)
			require.False(t, g.Has("errors"), "%s: %s", name, g.Body)
			require.Equal(t, r.Get("data"), g.Get("data.requestReport"), name)
			require.Equal(t, c.filed, r.Int("data.total.filed"), name)
		}
	})
}

// The table of a report has its figures and the names that the caller sees, and no formula.
func TestReportTable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		reported(t, s)
		path := "/v1/reports/requests.csv?" + url.Values{"by": {"organization", "service", "priority"}, "priority": {"HIGH"}}.Encode()
		a := s.Send(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodGet, Path: path})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.Equal(t, "text/csv; charset=utf-8", a.Header.Get("Content-Type"))
		require.Equal(t, "attachment; filename=report.csv", a.Header.Get("Content-Disposition"))
		text, marked := strings.CutPrefix(string(a.Body), "\ufeff")
		require.True(t, marked, "a byte-order mark")
		lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, "part,key,name,filed,completed,cancelled,open,reopened,firstResponseP50,firstResponseP90,resolutionP50,resolutionP90,slaMet,slaMissed,ratings,satisfaction", strings.Join(lines[0], ","))
		names, parts := map[string]string{}, map[string]int{}
		for _, line := range lines[1:] {
			parts[line[0]]++
			names[line[0]] = line[2]
		}
		require.Equal(t, map[string]int{"total": 1, "before": 1, "over": 31, "organization": 1, "service": 1, "priority": 1}, parts)
		require.Equal(t, []string{"'=HYPERLINK(1)", "'+1", ""}, []string{names["organization"], names["service"], names["priority"]})
		require.Equal(t, "total,,,1,1,0,0,0,0,0,0,0,0,0,0,", strings.Join(lines[1], ","))
		require.Equal(t, "HIGH", lines[len(lines)-1][1])

		s.Run(t, []apitest.Scenario{
			{Name: "unknown filters", As: s.A.AgentKey, Path: path + "&color=red&status=GONE", WantStatus: 400, WantFields: []string{"color", "status"}},
			{Name: "pages", As: s.A.AgentKey, Path: path + "&page=2&sort=title", WantStatus: 400, WantFields: []string{"page", "sort"}},
			{Name: "no time", As: s.A.AgentKey, Path: path + "&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", WantStatus: 400, WantFields: []string{"to"}},
			{Name: "nobody", As: apitest.Nobody, Path: path, WantStatus: 401},
			{Name: "another method", As: s.A.AgentKey, Method: http.MethodPost, Path: path, WantStatus: 405},
			{Name: "without the scope", As: s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: apitest.Without("requests:read")}), Path: path, WantStatus: 403, WantContains: []string{`"reason":"requests:read"`}},
		})
		head := s.Send(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodHead, Path: path})
		require.Equal(t, "200 0", fmt.Sprint(head.Status, " ", len(head.Body)))
	})
}
