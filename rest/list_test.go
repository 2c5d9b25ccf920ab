package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/rest"
)

// TestPaging checks every list: pages that do not overlap, counts, bounds, and the page past the end.
func TestPaging(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := offered(t, s, as, nil)
		for i := range 6 {
			create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": fmt.Sprint("r", i)})
			create(t, s, as, "/v1/secrets", body{"allowedHosts": []string{"*"}, "name": fmt.Sprint("S", i), "value": "v"})
		}
		rows(t, s, as, "/v1/services", "Service", 5, nil)
		rows(t, s, as, "/v1/services/"+f.service+"/offerings", "Offering", 5, nil)
		rows(t, s, as, "/v1/workflows", "Workflow", 6, body{"definition": definition})
		rows(t, s, as, "/v1/teams", "Team", 6, nil)
		rows(t, s, as, "/v1/organizations", "Organization", 6, nil)
		processes := make([]processing, 5)
		for i := range processes {
			processes[i] = processed(t, s, as)
			workedBy(t, s, as, create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": fmt.Sprint("worked ", i)}))
		}
		movable(t, s, as, processes[0])
		discussed := "/v1/requests/" + create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "c"}) + "/comments"
		for i := range 5 {
			create(t, s, as, discussed, body{"body": fmt.Sprint(i)})
		}
		lists := map[string][]string{ // path → the fields that it can be sorted by
			"/v1/services": {"createdAt", "updatedAt", "name"},
			"/v1/services/" + f.service + "/offerings": {"createdAt", "updatedAt", "name"},
			"/v1/requests":      {"createdAt", "updatedAt", "title", "priority", "status"},
			"/v1/workflows":     {"createdAt", "updatedAt", "name"},
			"/v1/users":         {"createdAt", "updatedAt", "name"},
			"/v1/teams":         {"createdAt", "updatedAt", "name"},
			"/v1/organizations": {"createdAt", "updatedAt", "name"},
			"/v1/secrets":       {"createdAt", "updatedAt", "name"},
			"/v1/audit":         {"at", "createdAt", "updatedAt"},
			"/v1/executions":    {"createdAt", "updatedAt", "status"},
			"/v1/tasks":         {"createdAt", "updatedAt", "status"},
			"/v1/approvals":     {"createdAt", "updatedAt"},
			"/v1/incidents":     {"createdAt", "updatedAt"},
			"/v1/agent-runs":    {"createdAt", "updatedAt"},
			"/v1/workflows/" + processes[0].workflow + "/executions": {"createdAt", "updatedAt", "status"},
			discussed: {"createdAt", "updatedAt"},
		}
		for path, sorts := range lists {
			all := s.Do(t, apitest.Scenario{As: as, Path: path + "?pageSize=100"})
			total := all.Int("pagination.totalCount")
			require.Len(t, all.Column("id"), total, path)
			require.Equal(t, body{"page": 1.0, "pageSize": 100.0, "totalPages": 1.0, "totalCount": float64(total)}, all.Get("pagination"))
			standard := s.Do(t, apitest.Scenario{As: as, Path: path})
			require.Equal(t, 20, standard.Int("pagination.pageSize"))
			for _, sort := range append([]string{""}, sorts...) {
				for _, dash := range []string{"", "-"} {
					if sort == "" && dash == "-" {
						continue
					}
					var paged []any
					query := "?pageSize=4"
					if sort != "" {
						query += "&sort=" + dash + sort
					}
					pages := (total + 3) / 4
					for page := 1; page <= pages; page++ {
						one := s.Do(t, apitest.Scenario{As: as, Path: fmt.Sprint(path, query, "&page=", page)})
						require.Equal(t, pages, one.Int("pagination.totalPages"), path)
						paged = append(paged, one.Column("id")...)
					}
					require.ElementsMatch(t, all.Column("id"), paged, "%s%s: pages overlap or leave gaps", path, query)
				}
			}
			past := s.Do(t, apitest.Scenario{As: as, Path: path + "?page=1000000&pageSize=100"})
			require.Empty(t, past.Column("id"))
			require.Equal(t, total, past.Int("pagination.totalCount"))
			require.Empty(t, s.Do(t, apitest.Scenario{As: as, Path: path + "?page=9223372036854775807"}).Column("id"))
			for query, field := range map[string]string{
				"page=0": "page", "page=-1": "page", "page=1.5": "page", "page=x": "page", "page=": "page", "page=99999999999999999999": "page",
				"pageSize=0": "pageSize", "pageSize=101": "pageSize", "pageSize=1e3": "pageSize", "page=1&page=2": "page",
				"sort=id": "sort", "sort=--createdAt": "sort", "sort=-": "sort", "sort=created_at": "sort", "sort=createdAt%20desc": "sort",
				"sort=createdAt,name": "sort", "limit=5": "limit", "Page=1": "Page", "tag.%27=x": "tag.'",
			} {
				s.Do(t, apitest.Scenario{As: as, Path: path + "?" + query, WantStatus: 400, WantCode: "validation_error", WantFields: []string{field}})
			}
		}
		empty := s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/services"})
		require.Equal(t, body{"page": 1.0, "pageSize": 20.0, "totalPages": 0.0, "totalCount": 0.0}, empty.Get("pagination"))
		require.Equal(t, []any{}, empty.Get("data"))
	})
}

// TestEveryListSortsByItsTimes checks that each list of the route table takes createdAt and updatedAt.
func TestEveryListSortsByItsTimes(t *testing.T) {
	t.Parallel()
	for _, row := range rest.Table() {
		if len(row.Op.Sorts) == 0 {
			continue
		}
		for _, field := range []string{"createdAt", "updatedAt"} {
			require.Contains(t, row.Op.Sorts, field, row.Path)
		}
	}
}

// TestSorting checks that both databases order texts by Unicode's root collation, in every script without case, and priorities by weight.
func TestSorting(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		for i, name := range []string{"banana", "Apple", "apple", "_x", "Zebra", "émile", "10", "9", "яблоня", "Яблоко", "привет", "Οδυσσευς", "Ärger", "äpfel"} {
			create(t, s, as, "/v1/services", body{"name": name, "slug": fmt.Sprint("s", i)})
		}
		want := []any{"_x", "10", "9", "äpfel", "apple", "Apple", "Ärger", "banana", "émile", "Zebra", "Οδυσσευς", "привет", "Яблоко", "яблоня"}
		require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/services?sort=name"}).Column("name"))
		f := offered(t, s, as, nil)
		for _, p := range []string{"HIGH", "LOW", "URGENT", "MEDIUM"} {
			create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": p, "priority": p})
		}
		require.Equal(t, []any{"LOW", "MEDIUM", "HIGH", "URGENT"}, s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?sort=priority"}).Column("priority"))
		require.Equal(t, []any{"URGENT", "HIGH", "MEDIUM", "LOW"}, s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?sort=-priority"}).Column("priority"))
		require.Equal(t, []any{"URGENT", "MEDIUM", "LOW", "HIGH"}, s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?sort=-title"}).Column("title"))
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := offered(t, s, as, nil)
		team := create(t, s, as, "/v1/teams", body{"name": "Ops"})
		at := func(b body) string {
			full := body{"serviceId": f.service, "offeringId": f.offering, "title": "x"}
			for k, v := range b {
				full[k] = v
			}
			return create(t, s, as, "/v1/requests", full)
		}
		one := at(body{"title": "100% Größe_A", "priority": "HIGH", "tags": body{"env": "prod", "a.b": "x,y"}})
		at(body{"title": "Laptop", "priority": "LOW", "assigneeId": s.A.Agent.UserID, "teamId": team, "tags": body{"env": "dev"}})
		three := at(body{"title": "LAPTOP stand"})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + three, Body: body{"status": "IN_PROGRESS"}})
		q := url.QueryEscape
		s.World.Clock.SetOffset(0)
		created := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests/" + one}).Text("data.createdAt")
		for query, want := range map[string]int{
			"": 3, "status=PENDING": 2, "status=PENDING,IN_PROGRESS": 3, "status=PENDING&priority=HIGH": 1, "status=PENDING&status=IN_PROGRESS": 3,
			"status=PENDING,PENDING": 2, "priority=LOW,URGENT": 1, "serviceId=" + f.service: 3, "serviceId=svc_x": 0, "offeringId=" + f.offering + "&status=COMPLETED": 0,
			"assigneeId=" + s.A.Agent.UserID: 1, "teamId=" + team: 1, "assigneeId=none": 2, "assigneeId=none,usr_x": 2, "teamId=none," + team: 3, "teamId=none&status=PENDING": 1,
			"assigneeId=NONE": 0, "createdBy=" + as.UserID: 3, "createdBy=" + as.KeyID: 0,
			"createdAfter=" + q(created): 3, "createdBefore=" + q(created): 0, "createdAfter=2030-01-01T00:00:00%2B02:00": 0,
			"tag.env=prod": 1, "tag.env=prod,dev": 2, "tag[env]=prod": 1, "tag%5Benv%5D=prod,dev": 2, "tag[env]=prod&tag.env=dev": 2, "tag[none]=x": 0,
			"tag[env]=prod&priority=LOW": 0, "tag.env=prod&priority=LOW": 0, "tag.env=pro": 0, "tag.env=%25": 0, "tag.none=x": 0, "tag.a.b=x": 0,
			"q=laptop": 2, "q=LAPTOP": 2, "q=" + q("100%"): 1, "q=%25": 0, "q=_": 0, "q=" + q("größe"): 1, "q=" + q("GRÖSSE"): 1, "q=" + q("GRÖßE"): 1, "q=" + q(`\`): 0, "q=" + q("laptop,stand"): 1,
			"q=stand&status=IN_PROGRESS": 1,
		} {
			got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?" + query})
			require.Equal(t, want, got.Int("pagination.totalCount"), query)
			require.Len(t, got.Column("id"), want, query)
		}
		for query, field := range map[string]string{
			"status=OPEN": "status", "status=pending": "status", "status=PENDING,": "status", "status=": "status", "priority=high": "priority",
			"createdAfter=2026-01-01": "createdAfter", "createdBefore=now": "createdBefore", "tag.=x": "tag.", "tag=x": "tag", "tag[]=x": "tag.", "tag[env=x": "tag[env", "tag[a b]=x": "tag.a b", "q=" + long("x", 201): "q", "title=x": "title",
			"serviceId=" + long("x", 65): "serviceId",
		} {
			s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?" + query, WantStatus: 400, WantFields: []string{field}})
		}
		// Services: status, name, tags.
		create(t, s, as, "/v1/services", body{"name": "Ärger melden", "status": "draft", "tags": body{"env": "prod"}})
		for query, want := range map[string]int{"status=draft": 1, "status=draft,archived": 1, "q=" + q("ärger"): 1, "q=" + q("Ärger"): 1, "q=" + q("ÄRGER MELDEN"): 1, "tag.env=prod": 1, "tag.env=prod&status=active": 0} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/services?" + query}).Int("pagination.totalCount"), query)
		}
		// Letters of every script are found in any case and spelling.
		for name, parts := range map[string][]string{
			"Οδυσσευς": {"ΟΔΥΣ", "οδυσσευσ", "ΟΔΥΣΣΕΥΣ"}, "Straße": {"STRASSE", "straße", "strasse"}, "Zoe\u0308": {"zoë", "ZOË", "zoe\u0308"},
			"Crème brûlée": {"CRE\u0300ME", "brûlÉE"}, "Привет": {"пРИВЕТ"}, "ﬁnal": {"FINAL", "final"}, "İzmir": {"i\u0307zmir"},
		} {
			create(t, s, as, "/v1/services", body{"name": name, "status": "draft"})
			for _, part := range parts {
				got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services?q=" + q(part)})
				require.Equal(t, []any{name}, got.Column("name"), "%+q", part)
			}
		}
		// In a list , separates and %2C is data.
		create(t, s, as, "/v1/services", body{"name": "Two rooms", "status": "draft", "tags": body{"room": "2,3"}})
		for query, want := range map[string]int{"tag.room=2%2C3": 1, "tag[room]=2%2c3": 1, "tag.room=2,3": 0, "tag.room=x,2%2C3": 1, "tag%2Eroom=2%2C3": 1, "q=a%2Cb": 0, "q=a,b": 0} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/services?" + query}).Int("pagination.totalCount"), query)
		}
		// Rows with a name are found by a part of it.
		create(t, s, as, "/v1/organizations", body{"name": "Ops Nord"})
		create(t, s, as, "/v1/secrets", body{"allowedHosts": []string{"*"}, "name": "OPS_TOKEN", "value": "v"})
		create(t, s, as, "/v1/services/"+f.service+"/offerings", body{"name": "Ops Gerät", "status": "inactive"})
		for _, list := range []string{"/v1/teams", "/v1/organizations", "/v1/secrets", "/v1/services/" + f.service + "/offerings"} {
			for query, want := range map[string]int{"q=ops": 1, "q=OPS": 1, "q=o%25s": 0, "q=nothing": 0} {
				got := s.Do(t, apitest.Scenario{As: as, Path: list + "?" + query})
				require.Equal(t, want, got.Int("pagination.totalCount"), "%s?%s", list, query)
				require.Len(t, got.Column("id"), want, "%s?%s", list, query)
			}
			s.Do(t, apitest.Scenario{As: as, Path: list + "?q=" + long("x", 201), WantStatus: 400, WantFields: []string{"q"}})
		}
		offerings := "/v1/services/" + f.service + "/offerings?"
		for query, want := range map[string]int{"status=inactive": 1, "status=active": 1, "status=active,inactive": 2, "status=active&q=ops": 0, "q=" + q("GERÄT"): 1} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: offerings + query}).Int("pagination.totalCount"), query)
		}
		s.Do(t, apitest.Scenario{As: as, Path: offerings + "status=draft", WantStatus: 400, WantFields: []string{"status"}})
	})
}

// TestManyFilters checks that a caller cannot make a statement longer than a database accepts.
func TestManyFilters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		tags := ""
		for i := range 2000 {
			tags += fmt.Sprintf("&tag.k%d=v", i)
		}
		for _, path := range []string{
			"/v1/requests?tag.a=" + long("x,", 40_000) + "x", "/v1/requests?" + tags[1:], "/v1/services?" + tags[1:],
			"/v1/requests?serviceId=" + long("x,", 40_000) + "x", "/v1/audit?actorId=" + long("x,", 40_000) + "x",
		} {
			s.Do(t, apitest.Scenario{As: as, Path: path, WantStatus: 400, WantCode: "validation_error"})
		}
	})
}

// TestTotalsAreExact changes requests concurrently; the stored counters agree with the rows.
func TestTotalsAreExact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := offered(t, s, as, nil)
		parallel(40, func(i int) int {
			a := s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "x"}})
			for _, status := range []string{"IN_PROGRESS", "COMPLETED"}[:i%3] {
				s.Send(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + a.ID(), Body: body{"status": status}})
			}
			return a.Status
		})
		for query, want := range map[string]int{"": 40, "?status=PENDING": 14, "?status=IN_PROGRESS": 13, "?status=COMPLETED": 13, "?status=CANCELLED": 0, "?status=PENDING,COMPLETED&priority=MEDIUM": 27} {
			require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests" + query}).Int("pagination.totalCount"), query)
		}
		var audited int
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			var err error
			audited, err = tx.AuditEntry.Query().Count(ctx)
			return err
		})
		log := s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit"}).Int("pagination.totalCount")
		other := s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/audit"}).Int("pagination.totalCount")
		require.Equal(t, audited, log+other)
	})
}

// What a report counts is found by the list: what was completed, cancelled or opened again in a time, and what an organization's services got.
func TestRequestsByWhatBecameOfThem(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		client := create(t, s, as, "/v1/organizations", body{"name": "Client"})
		ours, theirs := offered(t, s, as, nil), offered(t, s, as, nil)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/services/" + theirs.service, Body: body{"organizationId": client}})
		file := func(f filing, statuses ...string) {
			id := create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "x"})
			for _, status := range statuses {
				s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + id, Body: body{"status": status}})
			}
		}
		file(ours)
		file(ours, "IN_PROGRESS", "COMPLETED")
		file(ours, "IN_PROGRESS", "COMPLETED", "IN_PROGRESS")
		file(theirs, "CANCELLED")
		file(theirs, "IN_PROGRESS", "COMPLETED", "IN_PROGRESS", "COMPLETED")
		for query, want := range map[string]int{
			"": 5, "completedAfter=2020-01-01T00:00:00Z": 2, "completedBefore=2020-01-01T00:00:00Z": 0, "completedBefore=2099-01-01T00:00:00Z": 2,
			"cancelledAfter=2020-01-01T00:00:00Z": 1, "cancelledBefore=2099-01-01T00:00:00%2B02:00": 1, "cancelledAfter=2099-01-01T00:00:00Z": 0,
			"reopened=true": 2, "reopened=false": 3, "reopened=true&completedAfter=2020-01-01T00:00:00Z": 1,
			"organizationId=" + client: 2, "organizationId=none": 3, "organizationId=none," + client: 5, "organizationId=org_x": 0,
			"organizationId=" + client + "&status=COMPLETED": 1, "organizationId=" + client + "&serviceId=" + ours.service: 0,
		} {
			got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?" + query})
			require.Equal(t, want, got.Int("pagination.totalCount"), query)
			require.Len(t, got.Column("id"), want, query)
		}
		for _, name := range []string{"completedAfter", "completedBefore", "cancelledAfter", "cancelledBefore", "reopened"} {
			s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests?" + name + "=yesterday", WantStatus: 400, WantFields: []string{name}})
		}
		other := s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/requests?organizationId=" + client})
		require.Equal(t, 0, other.Int("pagination.totalCount"))
	})
}
