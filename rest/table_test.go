package rest_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// table gets the table of requests for some filters, as rows of cells by their headings.
func table(t *testing.T, s *apitest.Server, as apitest.Caller, query string) (*apitest.Answer, []map[string]string) {
	t.Helper()
	a := s.Send(t, apitest.Scenario{As: as, Method: http.MethodGet, Path: "/v1/requests.csv" + query})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	text, marked := strings.CutPrefix(string(a.Body), "\ufeff")
	require.True(t, marked, "a byte-order mark")
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, heading := range lines[0] {
			row[heading] = line[i]
		}
		rows = append(rows, row)
	}
	return a, rows
}

// A table has the rows of the list in its order, with the names of what they are about.
func TestTable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		file := func(b body) string {
			b["serviceId"], b["offeringId"] = f.service, f.offering
			return create(t, s, s.A.OwnerKey, "/v1/requests", b)
		}
		file(body{"title": `Printer, "the big one"`, "description": "Line one\nline two", "priority": "URGENT", "tags": body{"site": "Zürich", "env": "prod"}, "fields": body{"n": 1}, "assigneeId": s.A.Agent.UserID})
		for _, title := range []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=b"} {
			file(body{"title": title, "requesterId": s.A.Member.UserID})
		}
		filed(t, s, s.B.OwnerKey)

		a, rows := table(t, s, s.A.AgentKey, "?sort=createdAt")
		require.Equal(t, "text/csv; charset=utf-8", a.Header.Get("Content-Type"))
		require.Equal(t, "attachment; filename=requests.csv", a.Header.Get("Content-Disposition"))
		require.Equal(t, "8", a.Header.Get("X-Total-Count"))
		require.Len(t, rows, 8)
		one := rows[0]
		require.Equal(t, []string{"1", `Printer, "the big one"`, "Line one\nline two", "URGENT", "PENDING", "env=prod; site=Zürich", `{"n":1}`},
			[]string{one["number"], one["title"], one["description"], one["priority"], one["status"], one["tags"], one["fields"]})
		require.Equal(t, "Offering", one["offering"])
		require.Contains(t, one["service"], "Service ")
		require.NotEmpty(t, one["assignee"])
		require.NotEmpty(t, rows[1]["requester"])
		titles := []string{}
		for _, row := range rows[1:] {
			titles = append(titles, row["title"])
		}
		require.Equal(t, []string{"'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "a=b"}, titles, "no cell is a formula")

		// Every filter of the list holds, and the list's order.
		for _, query := range []string{"?priority=URGENT", "?status=PENDING,COMPLETED&sort=-title", "?assigneeId=none", "?tag.site=Zürich", "?number=3", "?requesterId=" + s.A.Member.UserID, "?q=printer", "?createdBefore=2020-01-01T00:00:00Z"} {
			list := s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests" + query + "&pageSize=100"})
			_, rows := table(t, s, s.A.AgentKey, query)
			require.Len(t, rows, list.Int("pagination.totalCount"), query)
			for i, row := range rows {
				require.Equal(t, list.Get(fmt.Sprintf("data.%d.id", i)), row["id"], query)
			}
		}
		s.Run(t, []apitest.Scenario{
			{Name: "unknown filters", As: s.A.AgentKey, Path: "/v1/requests.csv?color=red&status=GONE", WantStatus: 400, WantFields: []string{"color", "status"}},
			{Name: "pages", As: s.A.AgentKey, Path: "/v1/requests.csv?page=2", WantStatus: 400, WantFields: []string{"page"}},
			{Name: "nobody", As: apitest.Nobody, Path: "/v1/requests.csv", WantStatus: 401},
			{Name: "another method", As: s.A.AgentKey, Method: http.MethodPost, Path: "/v1/requests.csv", WantStatus: 405},
			{Name: "without the scope", As: s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: apitest.Without("requests:read")}), Path: "/v1/requests.csv", WantStatus: 403, WantContains: []string{`"reason":"requests:read"`}},
		})
		head := s.Send(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodHead, Path: "/v1/requests.csv"})
		require.Equal(t, []any{200, "8", 0}, []any{head.Status, head.Header.Get("X-Total-Count"), len(head.Body)})
	})
}

// A table shows what its caller's list shows: members their own requests, nobody what policies hide, and no name that they hide.
func TestTableShowsWhatTheListShows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		for _, title := range []string{"Seen", "Hidden"} {
			create(t, s, s.A.OwnerKey, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": title, "assigneeId": s.A.Agent.UserID})
		}
		create(t, s, s.A.OwnerKey, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "Mine", "requesterId": s.A.Member.UserID})
		a, rows := table(t, s, s.A.Member, "")
		require.Len(t, rows, 1)
		require.Equal(t, "Mine", rows[0]["title"])
		require.Empty(t, s.Audit(t, a.RequestID()), "what members take out of their own is not recorded")
		_, rows = table(t, s, s.B.OwnerKey, "")
		require.Empty(t, rows)

		owner := s.World.As(s.A.Tenant, principal.Owner)
		for resource, condition := range map[string]string{"Request": `{"resource.title": "Hidden", "principal.role": "agent"}`, "User": `{"principal.role": "agent"}`} {
			c := policy.NewCondition([]byte(condition))
			testkit.Run(t, s.World, owner, policy.Create, policy.CreateInput{Name: resource, Effect: "Deny", Action: "read", Resource: resource, Condition: &c})
		}
		a, rows = table(t, s, s.A.AgentKey, "")
		require.Len(t, rows, 2)
		require.Equal(t, "2", a.Header.Get("X-Total-Count"))
		require.NotContains(t, string(a.Body), "Hidden")
		require.Empty(t, rows[1]["assignee"])
		entries := s.Audit(t, a.RequestID())
		require.Len(t, entries, 1)
		require.Equal(t, "request.exported", entries[0].Action)
	})
}

// A table is read piece by piece, in any order, without a row twice or left out; a company has one at a time, and others go on.
func TestTableOfManyPieces(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		owner := s.World.As(s.A.Tenant, principal.Owner)
		const many = 1_203
		for n := range many {
			testkit.Run(t, s.World, owner, request.Create, request.CreateInput{ServiceID: f.service, OfferingID: f.offering, Title: fmt.Sprint("Row ", n%7)})
		}
		for _, sort := range []string{"", "?sort=title", "?sort=-priority", "?sort=resolutionDueAt"} {
			seen := map[string]bool{}
			a, rows := table(t, s, s.A.AgentKey, sort)
			require.Equal(t, fmt.Sprint(many), a.Header.Get("X-Total-Count"))
			for _, row := range rows {
				seen[row["id"]] = true
			}
			require.Len(t, rows, many, sort)
			require.Len(t, seen, many, sort)
		}

		table, err := request.OpenTable(owner, s.World.Engine, request.ExportInput{})
		require.NoError(t, err)
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests.csv", WantStatus: 503, WantCode: "unavailable"})
		a := s.Send(t, apitest.Scenario{As: s.B.AgentKey, Path: "/v1/requests.csv"})
		require.Equal(t, http.StatusOK, a.Status)
		table.Close()
		require.Equal(t, http.StatusOK, s.Send(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests.csv"}).Status)
	})
}

// A table of long rows is read in smaller pieces, so that one caller does not hold a hundred megabytes.
func TestTableOfLongRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		owner := s.World.As(s.A.Tenant, principal.Owner)
		const many = 25
		long := strings.Repeat("x", 900_000)
		for n := range many {
			testkit.Run(t, s.World, owner, request.Create, request.CreateInput{ServiceID: f.service, OfferingID: f.offering, Title: fmt.Sprint("Row ", n), Fields: map[string]any{"long": long}})
		}
		table, err := request.OpenTable(owner, s.World.Engine, request.ExportInput{})
		require.NoError(t, err)
		defer table.Close()
		require.Equal(t, many, table.Total)
		titles, piece, most := map[string]bool{}, 0, 0
		require.NoError(t, table.Rows(owner, func(line []string) error {
			titles[line[2]] = true
			piece++
			return nil
		}, func() error {
			most, piece = max(most, piece), 0
			return nil
		}))
		require.Len(t, titles, many+1, "the headings, and each row once")
		require.LessOrEqual(t, most, 10, "rows that are held at once")
	})
}

// A right that ends while a table is written ends the table.
func TestTableEndsWithTheRight(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		s := apitest.Serve(t, w, door)
		f := offered(t, s, s.A.OwnerKey, nil)
		for range 101 {
			testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: f.service, OfferingID: f.offering, Title: "t"})
		}
		agent := w.As(w.A, principal.Agent)
		open, err := request.OpenTable(agent, w.Engine, request.ExportInput{})
		require.NoError(t, err)
		defer open.Close()
		lines := 0
		err = open.Rows(agent, func([]string) error {
			if lines == 0 {
				c := policy.NewCondition([]byte(`{"principal.role": "agent"}`))
				testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "No", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
			}
			lines++
			return nil
		}, func() error { return nil })
		require.NoError(t, err)
		require.Equal(t, 101, lines, "the headings and the first piece, which was read before")
	})
}

// A table that fails on its way breaks off, so that nobody takes it for whole.
func TestTableBreaksOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := offered(t, s, s.A.OwnerKey, nil)
		owner := s.World.As(s.A.Tenant, principal.Owner)
		long := strings.Repeat("ä", 10_000) // 10 MB in all, more than a connection takes before they are read
		for range 501 {
			testkit.Run(t, s.World, owner, request.Create, request.CreateInput{ServiceID: f.service, OfferingID: f.offering, Title: "t", Description: &long})
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/requests.csv", http.NoBody)
		require.NoError(t, err)
		req.Header = s.A.AgentKey.Header.Clone()
		res, err := s.HTTP.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			const gone = "ALTER TABLE offerings RENAME TO gone"
			if pg := tx.PGX(); pg != nil {
				_, err := pg.Exec(ctx, gone)
				return err
			}
			_, err := tx.SQL().ExecContext(ctx, gone)
			return err
		})
		n, err := io.Copy(io.Discard, res.Body)
		require.Error(t, err)
		require.Greater(t, n, int64(1<<20), "it had begun")
	})
}
