package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// retitled changes a request's title.
func retitled(t testing.TB, s *apitest.Server, id, title string) {
	t.Helper()
	testkit.Run(t, s.World, s.World.As(s.World.A, principal.Owner), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo(title)})
}

// A stream reports every change with the present values of the row, on the node that made the change and on another.
func TestStream(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		here, there := serveStreams(t, w), serveStreams(t, w.Node(t))
		h := opened(t, here.Server)
		h.filed(t, here.Server, principal.Owner, "before")
		streams := []*opening{here.watch(t, here.A.Owner, watchRequests, nil), there.watch(t, there.A.OwnerKey, watchRequests, nil)}
		for _, o := range streams {
			require.Equal(t, "no-store", o.header.Get("Cache-Control"))
			require.Equal(t, "no", o.header.Get("X-Accel-Buffering"))
			require.NotEmpty(t, o.header.Get("X-Request-Id"))
		}
		began := time.Now()
		r := h.filed(t, here.Server, principal.Owner, "first")
		for i, o := range streams {
			e := o.result(t)
			require.Equal(t, vars{"change": "CREATED", "request": vars{"id": r.ID, "title": "first", "status": "PENDING"}}, e.get("data.requestChanged"))
			t.Logf("node %d: %s", i, e.at.Sub(began))
		}
		ask(t, there.Server, there.A.Agent, `mutation($id: ID!) { acceptRequest(input: {id: $id}) { request { id } } }`, vars{"id": r.ID})
		for _, o := range streams {
			require.Equal(t, vars{"change": "UPDATED", "request": vars{"id": r.ID, "title": "first", "status": "IN_PROGRESS"}}, o.result(t).get("data.requestChanged"))
		}
	})
}

// A stream is about one request, or about those that match a filter after the change.
func TestStreamFilters(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		h := opened(t, s.Server)
		one := h.filed(t, s.Server, principal.Owner, "one")
		single := s.watch(t, s.A.Owner, watchRequests, vars{"id": one.ID})
		pending := s.watch(t, s.A.Owner, watchRequests, vars{"filter": vars{"status": []string{"PENDING"}, "q": "two"}})
		two := h.filed(t, s.Server, principal.Owner, "two")
		require.Equal(t, two.ID, pending.result(t).get("data.requestChanged.request.id"))
		retitled(t, s.Server, two.ID, "else")
		retitled(t, s.Server, one.ID, "uno")
		require.Equal(t, "uno", single.result(t).get("data.requestChanged.request.title"))
		retitled(t, s.Server, two.ID, "two again")
		require.Equal(t, "two again", pending.result(t).get("data.requestChanged.request.title"), "it did not match in between")
	})
}

// Rows that change together are read together, with their edges: the number of statements does not grow.
func TestStreamReadsTogether(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s, await := counted(t, w)
		h := opened(t, s.Server)
		o := s.watch(t, s.A.Owner, `subscription { requestChanged { request { id service { name } offering { name } creator { name } } } }`, nil)
		told := 0
		took := func(n int) int64 {
			release := s.door.HoldStreams()
			s.Write(t, func(_ context.Context, tx *store.Tx) error {
				for i := range n {
					if err := filedBehind(s, h, tx, fmt.Sprint(i), ""); err != nil {
						return err
					}
				}
				return nil
			})
			told += n
			await("atrium_feed_changes_total", told)
			count := counting(s.Server)
			release()
			for range n {
				e := o.result(t)
				require.Equal(t, "IT Support", e.get("data.requestChanged.request.service.name"))
				require.NotEmpty(t, e.get("data.requestChanged.request.creator.name"))
			}
			return count.Load()
		}
		one := took(1)
		require.EqualValues(t, 4, one, "the request, its service, its offering, its creator")
		require.Equal(t, one, took(40))
	})
}

// The stream of deliveries reports each delivery and each attempt, to callers that may list deliveries.
func TestDeliveryStream(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		owner := s.Session(t, s.World.A.Owner)
		mine, other := subscribed(t, s.Server, owner), subscribed(t, s.Server, owner)
		all, ofMine := s.watch(t, owner, watchDeliveries, nil), s.watch(t, s.A.Owner, watchDeliveries, vars{"s": mine})
		d := tried(t, s.Server, owner, mine)
		for _, o := range []*opening{all, ofMine} {
			require.Equal(t, vars{"change": "CREATED", "webhookDelivery": vars{"id": d, "outcome": "PENDING", "retryCount": 0.0, "attempts": []any{}}},
				o.result(t).get("data.webhookDeliveryChanged"))
		}
		elsewhere := tried(t, s.Server, owner, other)
		require.Equal(t, elsewhere, all.result(t).get("data.webhookDeliveryChanged.webhookDelivery.id"))
		settle(t, s.Server, d, webhookdelivery.OutcomeSUCCESS, `[{"at":"2026-01-01T00:00:00Z","statusCode":204,"responseBody":"","latencyMs":3,"error":null}]`)
		for _, o := range []*opening{all, ofMine} {
			require.Equal(t, vars{"change": "UPDATED", "webhookDelivery": vars{"id": d, "outcome": "SUCCESS", "retryCount": 0.0, "attempts": []any{vars{"statusCode": 204.0}}}},
				o.result(t).get("data.webhookDeliveryChanged"))
		}
		for name, as := range map[string]apitest.Caller{"a member": s.A.Member, "an agent": s.A.Agent, "a key": s.A.OwnerKey} {
			o := s.subscribe(t, as, watchDeliveries, nil)
			require.Equal(t, http.StatusForbidden, o.status, name)
			require.Contains(t, o.body, `"forbidden"`, name)
		}
		foreign := s.subscribe(t, s.B.Owner, watchDeliveries, vars{"s": mine})
		require.Equal(t, http.StatusNotFound, foreign.status)
		require.Contains(t, foreign.body, `"not_found"`)
	})
}

// Queries and mutations are answered by events only where the caller accepts nothing else; otherwise by JSON.
func TestQueriesAsEvents(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		events := func(accept, query string) *apitest.Answer {
			return raw(t, s.Server, s.A.Owner, http.MethodPost, document(query), http.Header{"Accept": {accept}})
		}
		for _, accept := range []string{"text/event-stream", "text/event-stream; charset=utf-8, */*;q=0.1", "application/json;q=0, text/event-stream"} {
			a := events(accept, `{ viewer { id } service(id: "svc_1") { id } }`)
			require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"), accept)
			first, rest, _ := strings.Cut(string(a.Body), "\n\n")
			require.Equal(t, "event: complete\ndata:\n\n", rest)
			head, data, _ := strings.Cut(first, "\n")
			require.Equal(t, "event: next", head)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &got))
			id, _ := apitest.At(got, "data.viewer.id")
			require.Equal(t, s.A.Owner.UserID, id)
			code, _ := apitest.At(got, "errors.0.extensions.code")
			require.Equal(t, "not_found", code)
		}
		for _, accept := range []string{"", "*/*", "application/json", "text/event-stream;q=0"} {
			require.Equal(t, "application/json", events(accept, `{ viewer { id } }`).Header.Get("Content-Type"), accept)
		}
		all := responseType + ", application/json, text/event-stream, multipart/mixed"
		require.Equal(t, responseType+"; charset=utf-8", events(all, `{ viewer { id } }`).Header.Get("Content-Type"))
		require.Equal(t, http.StatusBadRequest, events("text/event-stream", `{ nonsense }`).Status)
	})
}

// A JSON value that was sent and stored over several lines is sent in one line.
func TestEventsAreOneLine(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		h := opened(t, s.Server)
		o := s.watch(t, s.A.Owner, `subscription { requestChanged { request { title fields description } } }`, nil)
		filed := raw(t, s.Server, s.A.Owner, http.MethodPost, `{"query":"mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { id } } }","variables":{"in":{"serviceId":"`+h.service.ID+`","offeringId":"`+h.offering.ID+`","title":"a\u2028b","description":"two\nlines\r\n","fields":{"k":
			"v"}}}}`, nil)
		require.False(t, filed.Has("errors"), "%s", filed.Body)
		e := o.result(t)
		require.Equal(t, vars{"k": "v"}, e.get("data.requestChanged.request.fields"))
		require.Equal(t, "two\nlines\r\n", e.get("data.requestChanged.request.description"))
	})
}

// Audit entries can be watched by those who may read them, in their own company, by the list's filter.
func TestAuditEntriesAreWatched(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		const added = `subscription($f: AuditFilter) { auditEntryChanged(filter: $f) { change auditEntry { action resource { type id } outcome } } }`
		services := s.watch(t, s.A.Owner, added, vars{"f": vars{"action": []string{"service.created"}}})
		others := s.watch(t, s.B.Owner, added, nil)
		require.Contains(t, s.subscribe(t, s.A.Member, added, nil).body, `"forbidden"`)
		create := func(as apitest.Caller) string {
			t.Helper()
			made := ask(t, s.Server, as, `mutation { createTeam(input: {name: "T"}) { team { id } } createService(input: {name: "S"}) { service { id } } }`, nil)
			return made.Text("data.createService.service.id")
		}
		mine, theirs := create(s.A.Owner), create(s.B.Owner)
		entry := func(id string) vars {
			return vars{"change": "CREATED", "auditEntry": vars{"action": "service.created", "resource": vars{"type": "Service", "id": id}, "outcome": "allowed"}}
		}
		require.Equal(t, entry(mine), services.result(t).get("data.auditEntryChanged"))
		require.Equal(t, "team.created", others.result(t).get("data.auditEntryChanged.auditEntry.action"))
		require.Equal(t, entry(theirs), others.result(t).get("data.auditEntryChanged"))
	})
}
