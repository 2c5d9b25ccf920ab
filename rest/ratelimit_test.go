package rest_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/company"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// plan puts company A on a plan, with the plan's own limits.
func plan(t *testing.T, s *apitest.Server, p company.Plan) {
	t.Helper()
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.Update().Where(company.ID(s.A.Tenant.Company.ID)).SetPlan(p).Exec(ctx)
	})
	s.Limits(t, s.A.Tenant, 0, 0)
}

var remaining = regexp.MustCompile(`^"minute";r=(\d+);t=(\d+)$`)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		plan(t, s, company.PlanFree)
		as := s.A.OwnerKey
		first := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services"})
		require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, first.Header.Get("RateLimit-Policy"))
		require.Equal(t, `"minute";r=59;t=60`, first.Header.Get("RateLimit"))

		// One call was made before. Of 200 calls at once, 59 are served; the others leave no trace.
		before := s.Counts(t)
		got := parallel(200, func(int) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "S " + unique()}})
		})
		statuses := map[int]int{}
		for _, a := range got {
			statuses[a.Status]++
		}
		require.Equal(t, map[int]int{201: 59, 429: 141}, statuses)
		after := s.Counts(t)
		require.Equal(t, before["services"]+59, after["services"])
		require.Equal(t, before["audit_entries"]+59, after["audit_entries"])
		refused := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services", WantStatus: 429, WantCode: "rate_limit_exceeded"})
		require.Equal(t, []string{"error", "message", "retryAfter"}, keys(refused.JSON()))
		require.LessOrEqual(t, refused.Int("retryAfter"), 60)
		require.Regexp(t, `^"minute";r=0;t=\d+$`, refused.Header.Get("RateLimit"))
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodHead, Path: "/v1/nothing", Client: nil, WantStatus: 429})

		// Every key, every person and the sandbox have a count of their own.
		s.Do(t, apitest.Scenario{As: s.A.TestKey, Path: "/v1/services"})
		s.Do(t, apitest.Scenario{As: s.A.AdminKey, Path: "/v1/services"})
		s.Do(t, apitest.Scenario{As: s.A.Owner, Path: "/v1/services"})
		s.Do(t, apitest.Scenario{As: s.B.OwnerKey, Path: "/v1/services"})
		second := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{})
		a := s.Do(t, apitest.Scenario{As: second, Path: "/v1/services"})
		require.Equal(t, "59", remaining.FindStringSubmatch(a.Header.Get("RateLimit"))[1])
		// A person has one count per client, for all tokens together.
		again := s.Bearer(t, s.A.Tenant, s.A.Tenant.Owner, []string{"services:read"}, time.Hour)
		a = s.Do(t, apitest.Scenario{As: again, Path: "/v1/services"})
		require.Equal(t, "58", remaining.FindStringSubmatch(a.Header.Get("RateLimit"))[1])

		// Refused calls do not count: a minute after the calls, all sixty are available again.
		s.World.Clock.SetOffset(61 * time.Second)
		a = s.Do(t, apitest.Scenario{As: as, Path: "/v1/services"})
		require.Equal(t, "59", remaining.FindStringSubmatch(a.Header.Get("RateLimit"))[1])
	})
}

func TestRateWindowSlides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		plan(t, s, company.PlanFree)
		as := s.A.OwnerKey
		at := func(offset time.Duration, calls, served int) {
			t.Helper()
			s.World.Clock.SetOffset(offset)
			n := 0
			for range calls {
				if s.Send(t, apitest.Scenario{As: as, Path: "/v1/services"}).Status == 200 {
					n++
				}
			}
			require.Equal(t, served, n, "at %s", offset)
		}
		at(0, 30, 30)
		at(30*time.Second, 40, 30) // 60 in this minute
		at(45*time.Second, 5, 0)   // the margins allow for a slow machine
		at(75*time.Second, 40, 30) // the first 30 have left the window, and no fixed minute began
		at(100*time.Second, 40, 30)
		// The day: with 100 calls a day, the 101st waits for midnight.
		s.Limits(t, s.A.Tenant, 1000, 100)
		day := s.World.Clock.Now().Truncate(24 * time.Hour).Add(48*time.Hour + time.Hour)
		at(time.Until(day), 101, 100)
		refused := s.Do(t, apitest.Scenario{As: as, Path: "/v1/services", WantStatus: 429})
		require.Greater(t, refused.Int("retryAfter"), 3600)
		require.Regexp(t, `^"day";r=0;t=\d+$`, refused.Header.Get("RateLimit"))
		at(time.Until(day.Add(23*time.Hour)), 1, 1)
	})
}

func TestPlansAndTestKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		for p, want := range map[company.Plan]string{
			company.PlanFree: `"minute";q=60;w=60, "day";q=10000;w=86400`, company.PlanPro: `"minute";q=60;w=60, "day";q=10000;w=86400`,
			company.PlanStarter: `"minute";q=120;w=60, "day";q=50000;w=86400`, company.PlanGrowth: `"minute";q=300;w=60, "day";q=200000;w=86400`,
			company.PlanBusiness: `"minute";q=600;w=60, "day";q=1000000;w=86400`,
		} {
			plan(t, s, p)
			for _, as := range []apitest.Caller{s.A.OwnerKey, s.A.Owner} {
				require.Equal(t, want, s.Do(t, apitest.Scenario{As: as, Path: "/v1/services"}).Header.Get("RateLimit-Policy"), p)
			}
			require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, s.Do(t, apitest.Scenario{As: s.A.TestKey, Path: "/v1/services"}).Header.Get("RateLimit-Policy"), "test keys have the Free row, whatever the plan")
		}
		s.Limits(t, s.A.Tenant, 7, 8)
		require.Equal(t, `"minute";q=7;w=60, "day";q=8;w=86400`, s.Do(t, apitest.Scenario{As: s.A.AdminKey, Path: "/v1/services"}).Header.Get("RateLimit-Policy"))
		require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, s.Do(t, apitest.Scenario{As: s.A.TestKey, Path: "/v1/services"}).Header.Get("RateLimit-Policy"))
	})
}
