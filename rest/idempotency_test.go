package rest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

func keyed(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

func TestIdempotency(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		post := apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Header: keyed("k1"), Body: body{"name": "IT"}}
		first := s.Do(t, post)
		before := s.Counts(t)
		again := s.Do(t, post)
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
		require.Equal(t, first.ETag(), again.ETag())
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Empty(t, first.Header.Get("Idempotency-Replayed"))
		require.NotEqual(t, first.RequestID(), again.RequestID())
		require.Equal(t, before, s.Counts(t), "no second effect")
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/services/" + first.ID(), Body: body{"name": "Changed"}})
		require.Equal(t, string(first.Body), string(s.Do(t, post).Body), "the first answer, not the row of today")

		with := func(change func(*apitest.Scenario)) apitest.Scenario {
			sc := post
			change(&sc)
			return sc
		}
		s.Run(t, []apitest.Scenario{
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.Body, sc.WantStatus, sc.WantCode = "another body", body{"name": "HR"}, 422, "idempotency_mismatch"
			}),
			with(func(sc *apitest.Scenario) { sc.Name, sc.Path, sc.WantStatus = "another path", "/v1/teams", 422 }),
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.As, sc.WantStatus = "another key of the company is another caller", s.A.AdminKey, 409
			}),
			with(func(sc *apitest.Scenario) { sc.Name, sc.As = "another company", s.B.OwnerKey }),
			with(func(sc *apitest.Scenario) { sc.Name, sc.As = "the sandbox", s.A.TestKey }),
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.Header, sc.WantStatus, sc.WantFields = "256 characters", keyed(long("k", 256)), 400, []string{"Idempotency-Key"}
			}),
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.Header, sc.WantStatus, sc.WantFields = "empty", keyed(""), 400, []string{"Idempotency-Key"}
			}),
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.Header, sc.WantStatus, sc.WantFields = "two", http.Header{"Idempotency-Key": {"a", "b"}}, 400, []string{"Idempotency-Key"}
			}),
			with(func(sc *apitest.Scenario) {
				sc.Name, sc.Header, sc.Body = "255 characters", keyed(long("k", 255)), body{"name": "Long key"}
			}),
			{Name: "a patch is another request", As: as, Method: http.MethodPatch, Path: "/v1/services/" + first.ID(), Header: keyed("k1"), Body: body{"name": "PATCH"}, WantStatus: 422},
		})
		// A refused call does not use up its key: with a corrected body, it succeeds.
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/teams", Header: keyed("k2"), Body: body{"nam": "x"}, WantStatus: 400})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/teams", Header: keyed("k2"), Body: body{"name": "x"}})
		// After 24 hours the key is a new one. The daily limit has started anew as well.
		s.World.Clock.SetOffset(24*time.Hour + time.Minute)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Header: keyed("k1"), Body: body{"name": "Next day"}})
	})
}

// TestIdempotencyUnderLoad posts the same request 1,000 times at once: it is made once, and all answers show it. Who waits longer than a
// call may take gets 503, and tries again under the same key.
func TestIdempotencyUnderLoad(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := offered(t, s, as, nil)
		got := parallel(1000, func(int) *apitest.Answer {
			for tries := 0; ; tries++ {
				a := s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Header: keyed("same"), Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "once"}})
				if a.Status != http.StatusServiceUnavailable || tries == 10 {
					return a
				}
				time.Sleep(time.Second) // as the answer asks
			}
		})
		replayed := 0
		for _, a := range got {
			require.Equal(t, 201, a.Status, "%s", a.Body)
			require.Equal(t, string(got[0].Body), string(a.Body))
			require.Equal(t, got[0].ETag(), a.ETag())
			if a.Header.Get("Idempotency-Replayed") == "true" {
				replayed++
			}
		}
		require.GreaterOrEqual(t, replayed, 999) // the first call may have committed as its time ended
		l := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests"})
		require.Equal(t, 1, l.Int("pagination.totalCount"))
		require.Equal(t, []string{"request.created"}, s.Events(t, got[0].ID()))
		log := s.Do(t, apitest.Scenario{As: as, Path: "/v1/audit?action=request.created"})
		require.Equal(t, 1, log.Int("pagination.totalCount"))
	})
}

// TestOneKeyOneSlug posts a unique row several times at once under one key: all get the first answer, and none a conflict.
func TestOneKeyOneSlug(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for _, path := range []string{"/v1/services", "/v1/teams"} {
			got := parallel(30, func(int) *apitest.Answer {
				return s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: path, Header: keyed(path), Body: body{"name": "Once"}})
			})
			for _, a := range got {
				require.Equal(t, 201, a.Status, "%s", a.Body)
				require.Equal(t, string(got[0].Body), string(a.Body))
			}
		}
		failed := s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Path: "/v1/audit?action=service.created,team.created"})
		require.Equal(t, 2, failed.Int("pagination.totalCount"))
	})
}

// A change or a deletion that is sent again, because its answer was lost, gets the first answer.
func TestChangesAreRepeatedWithoutEffect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := filed(t, s, as)
		tag := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests/" + f.request}).ETag()
		accept := apitest.Scenario{
			As: as, Method: http.MethodPatch, Path: "/v1/requests/" + f.request, Body: body{"status": "IN_PROGRESS"},
			Header: http.Header{"Idempotency-Key": {"accept"}, "If-Match": {tag}},
		}
		first := s.Do(t, accept)
		before := s.Counts(t)
		again := s.Do(t, accept)
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, first.ETag(), again.ETag())
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.Equal(t, before, s.Counts(t))

		team := create(t, s, as, "/v1/teams", body{"name": "Ops"})
		for n, replayed := range []string{"", "true", "true"} {
			a := s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/teams/" + team, Header: keyed("gone")})
			require.Equal(t, replayed, a.Header.Get("Idempotency-Replayed"), n)
			require.Empty(t, a.Body)
		}
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/teams/" + team, WantStatus: 404})

		// Of many at once, one takes effect, and all get its answer.
		other := create(t, s, as, "/v1/teams", body{"name": "Desk"})
		made := s.Do(t, apitest.Scenario{As: as, Path: "/v1/teams/" + other})
		for _, sc := range []apitest.Scenario{
			{Method: http.MethodPatch, Body: body{"name": "Desk 2"}, Header: http.Header{"Idempotency-Key": {"many"}, "If-Match": {made.ETag()}}},
			{Method: http.MethodDelete, Header: keyed("many gone")},
		} {
			sc.As, sc.Path = as, "/v1/teams/"+other
			statuses := map[int]int{}
			for _, status := range parallel(10, func(int) int { return s.Send(t, sc).Status }) {
				statuses[status]++
			}
			require.Len(t, statuses, 1, "%s: %v", sc.Method, statuses)
		}
	})
}
