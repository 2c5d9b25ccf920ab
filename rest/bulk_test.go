package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/idempotencykey"
	"atrium/internal/gate"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// bulk changes several requests, and returns the answer with the status of each row.
func bulk(t *testing.T, s *apitest.Server, as apitest.Caller, b body, header http.Header) (*apitest.Answer, []int) {
	t.Helper()
	a := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests/bulk", Body: b, Header: header, WantStatus: http.StatusOK})
	rows, _ := a.Get("data").([]any)
	statuses := make([]int, len(rows))
	for i := range rows {
		statuses[i] = a.Int(fmt.Sprintf("data.%d.status", i))
	}
	return a, statuses
}

// Each of several requests is changed as if it were changed by itself: with its own refusal, audit entry and event.
func TestBulk(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		f := offered(t, s, s.A.OwnerKey, nil)
		file := func(title string) string {
			return create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": title})
		}
		one, two, gone, theirs := file("One"), file("Two"), file("Gone"), filed(t, s, s.B.OwnerKey).request
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + gone, Body: body{"status": "CANCELLED"}})

		a, statuses := bulk(t, s, as, body{"ids": []string{one, gone, theirs, two}, "transition": "accept"}, nil)
		require.Equal(t, []int{200, 409, 404, 200}, statuses)
		require.Equal(t, []any{one, gone, theirs, two}, []any{a.Get("data.0.id"), a.Get("data.1.id"), a.Get("data.2.id"), a.Get("data.3.id")})
		alone := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests/" + one})
		require.Equal(t, alone.Get("data"), a.Get("data.0.request"), "the request as it is read")
		require.Nil(t, a.Get("data.0.error"))
		require.Nil(t, a.Get("data.1.request"))
		for n, id := range map[string]string{"1": gone, "2": theirs} {
			refused := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + id, Body: body{"status": "IN_PROGRESS"}, WantStatus: a.Int("data." + n + ".status")})
			require.Equal(t, refused.Get("error"), a.Get("data."+n+".error.error"))
			require.Equal(t, refused.Get("message"), a.Get("data."+n+".error.message"), "the refusal of a call for it alone")
		}
		require.Equal(t, []string{"request.created", "request.accepted"}, s.Events(t, two))
		require.Len(t, s.Events(t, gone), 2, "filed and cancelled")
		var entries []string
		for _, e := range s.Audit(t, a.RequestID()) {
			entries = append(entries, fmt.Sprint(e.Action, " ", *e.ResourceID, " ", e.Outcome))
		}
		require.ElementsMatch(t, []string{"request.accepted " + one + " allowed", "request.accepted " + two + " allowed", "request.accepted " + gone + " failed"}, entries)

		_, statuses = bulk(t, s, as, body{"ids": []string{one, two}, "change": body{"assigneeId": s.A.Agent.UserID, "tags": body{"site": "berlin"}, "description": nil}}, nil)
		require.Equal(t, []int{200, 200}, statuses)
	})
}

// Every transition does what the call for one request does.
func TestBulkTransitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		f, other := offered(t, s, s.A.OwnerKey, nil), offered(t, s, s.A.OwnerKey, nil)
		ids := []string{}
		for range 3 {
			ids = append(ids, create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "t"}))
		}
		for _, step := range []struct {
			body   body
			status string
			audit  string
		}{
			{body{"transition": "move", "offeringId": other.offering, "fields": body{"room": 12}}, "PENDING", "request.moved"},
			{body{"transition": "accept"}, "IN_PROGRESS", "request.accepted"},
			{body{"transition": "complete"}, "COMPLETED", "request.completed"},
			{body{"transition": "reopen", "reason": "It broke again."}, "IN_PROGRESS", "request.reopened"},
			{body{"transition": "decline", "reason": "We have none."}, "CANCELLED", "request.cancelled"},
		} {
			step.body["ids"] = ids
			a, statuses := bulk(t, s, as, step.body, nil)
			require.Equal(t, []int{200, 200, 200}, statuses, "%s", a.Body)
			require.Equal(t, step.status, a.Get("data.2.request.status"))
			require.Equal(t, []any{other.offering, 12.0}, []any{a.Get("data.2.request.offeringId"), a.Get("data.2.request.fields.room")})
			for _, e := range s.Audit(t, a.RequestID()) {
				require.Equal(t, step.audit, e.Action)
			}
		}
		a, _ := bulk(t, s, as, body{"ids": []string{create(t, s, as, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "t"})}, "transition": "cancel"}, nil)
		require.Equal(t, "CANCELLED", a.Get("data.0.request.status"))
	})
}

// What no row could take is refused as a whole, and changes nothing.
func TestBulkRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		id := filed(t, s, s.A.OwnerKey).request
		many := make([]string, 101)
		for i := range many {
			many[i] = fmt.Sprint("req_", i)
		}
		post := func(name string, b body, fields ...string) apitest.Scenario {
			return apitest.Scenario{Name: name, As: as, Method: http.MethodPost, Path: "/v1/requests/bulk", Body: b, WantStatus: 400, WantFields: fields, WantEvents: []string{}}
		}
		ids := []string{id}
		s.Run(t, []apitest.Scenario{
			post("nobody", body{"ids": []string{}, "change": body{}}, "ids"),
			post("too many", body{"ids": many, "change": body{}}, "ids"),
			post("one twice", body{"ids": []string{id, id}, "change": body{}}, "ids"),
			post("neither", body{"ids": ids}, "change"),
			post("both", body{"ids": ids, "change": body{}, "transition": "accept"}, "change"),
			post("no transition", body{"ids": ids, "transition": "explode"}, "transition"),
			post("faults of the change", body{"ids": ids, "change": body{"title": " ", "status": "GONE", "createdBy": "x"}}, "change.title", "change.status", "change.createdBy"),
			post("a decline says why", body{"ids": ids, "transition": "decline"}, "reason"),
			post("a move says where to", body{"ids": ids, "transition": "move"}, "offeringId"),
			post("a completion takes no reason", body{"ids": ids, "transition": "complete", "reason": "r"}, "reason"),
			post("a change takes no reason", body{"ids": ids, "change": body{}, "reason": "r"}, "change"),
			post("an acceptance takes no answers", body{"ids": ids, "transition": "accept", "fields": body{}}, "fields"),
			post("as many etags as ids", body{"ids": ids, "change": body{}, "etags": []string{"a", "b"}}, "etags"),
			{Name: "a member changes nothing", As: s.A.Member, Method: http.MethodPost, Path: "/v1/requests/bulk", Body: body{"ids": ids, "change": body{"title": "x"}}, WantStatus: 403, WantAudit: &apitest.AuditWant{Action: "request.updated", Outcome: "denied"}},
		})
		require.Equal(t, "A laptop", s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests/" + id}).Get("data.title"))
		_, statuses := bulk(t, s, s.A.Member, body{"ids": ids, "transition": "cancel"}, nil)
		require.Equal(t, []int{403}, statuses, "of others' requests; their own they may cancel")
		_, statuses = bulk(t, s, s.B.AgentKey, body{"ids": ids, "transition": "cancel"}, nil)
		require.Equal(t, []int{404}, statuses, "of another company")
	})
}

// What has changed since it was seen is refused alone.
func TestBulkSeesChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		one, two := filed(t, s, s.A.OwnerKey).request, filed(t, s, s.A.OwnerKey).request
		tag := func(id string) string {
			return s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests/" + id}).ETag()
		}
		seen := []string{tag(one), tag(two)}
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodPatch, Path: "/v1/requests/" + two, Body: body{"title": "Changed"}})
		_, statuses := bulk(t, s, s.A.AgentKey, body{"ids": []string{one, two}, "etags": seen, "change": body{"priority": "URGENT"}}, nil)
		require.Equal(t, []int{200, 412}, statuses)
	})
}

// The access policies decide about each row; a rule about rows keeps nobody from beginning.
func TestBulkUnderPolicies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.World.As(s.A.Tenant, principal.Owner)
		f := offered(t, s, s.A.OwnerKey, nil)
		file := func(title string) string {
			return create(t, s, s.A.OwnerKey, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": title})
		}
		ids := []string{file("Free"), file("Fixed"), file("Hidden")}
		for action, title := range map[string]string{"update": "Fixed", "read": "Hidden"} {
			c := policy.NewCondition([]byte(`{"resource.title": "` + title + `", "principal.role": "agent"}`))
			testkit.Run(t, s.World, owner, policy.Create, policy.CreateInput{Name: title, Effect: "Deny", Action: action, Resource: "Request", Condition: &c})
		}
		a, statuses := bulk(t, s, s.A.AgentKey, body{"ids": ids, "change": body{"priority": "HIGH"}}, nil)
		require.Equal(t, []int{200, 403, 403}, statuses)
		require.NotContains(t, string(a.Body), "Hidden")
		require.Regexp(t, "^dec_", a.Text("data.1.error.decisionId"))
	})
}

// A repeat with the same key answers alike and has no second effect; after a call that broke off it does what is missing.
func TestBulkIsIdempotent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AgentKey
		one, two := filed(t, s, s.A.OwnerKey).request, filed(t, s, s.A.OwnerKey).request
		accept := body{"ids": []string{one, two}, "transition": "accept"}
		first, _ := bulk(t, s, as, accept, keyed("b1"))
		require.Empty(t, first.Header.Get("Idempotency-Replayed"))
		before := s.Counts(t)
		again, statuses := bulk(t, s, as, accept, keyed("b1"))
		require.Equal(t, []int{200, 200}, statuses)
		require.JSONEq(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Equal(t, before, s.Counts(t))
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests/bulk", Body: body{"ids": []string{"req_1"}, "transition": "accept"}, Header: keyed("b1"), WantStatus: 422, WantCode: "idempotency_mismatch"})

		require.NoError(t, s.World.Store.Write(s.World.As(s.A.Tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.IdempotencyKey.Delete().Where(idempotencykey.Key(gate.RowKey("b1", two))).Exec(ctx)
			require.Equal(t, 1, n)
			return err
		}))
		_, statuses = bulk(t, s, as, accept, keyed("b1"))
		require.Equal(t, []int{200, 409}, statuses, "each row has its own answer; what has none is run")
	})
}

// A call counts against the rate limit as often as it has rows.
func TestBulkCountsItsRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		ids := []string{}
		for range 5 {
			ids = append(ids, filed(t, s, s.A.OwnerKey).request)
		}
		left := func(a *apitest.Answer) (n int) {
			_, err := fmt.Sscanf(a.Header.Get("RateLimit"), `"minute";r=%d`, &n)
			require.NoError(t, err, a.Header.Get("RateLimit"))
			return n
		}
		before := left(s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests"}))
		a, statuses := bulk(t, s, s.A.AgentKey, body{"ids": ids, "change": body{"priority": "LOW"}}, nil)
		require.Equal(t, slices.Repeat([]int{200}, 5), statuses)
		require.Equal(t, before-5, left(a))
	})
}
