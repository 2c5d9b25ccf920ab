package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"atrium/internal/test/apitest"
)

// TestOrderOfRefusals makes two faults at once, one scenario for each adjacent pair of the documented order; the earlier one is
// reported.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := filed(t, s, as)
		create(t, s, as, "/v1/services", body{"name": "Taken"})
		service, nothing := "/v1/services/"+f.service, "/v1/services/svc_00000000000000000000000000"
		reader := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: []string{"services:read"}})
		huge := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
		text, stale := http.Header{"Content-Type": {"text/plain"}}, http.Header{"If-Match": {`"stale"`}}
		past := s.World.Clock.Now().Add(-time.Hour)
		expired := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{ExpiresAt: &past})

		full := s.Bearer(t, s.B.Tenant, s.B.Tenant.Owner, []string{"services:read"}, time.Hour)
		s.Limits(t, s.B.Tenant, 1, 100)
		s.Run(t, []apitest.Scenario{
			{Name: "the one call that fits", As: full, Path: "/v1/services"},
			{Name: "401 before 404 of the route", As: expired, Path: "/v1/nothing", WantStatus: 401},
			{Name: "401 before 405", As: apitest.Nobody, Method: http.MethodPut, Path: "/v1/services", WantStatus: 401},
			{Name: "429 before 404 of the route", As: full, Path: "/v1/nothing", WantStatus: 429},
			{Name: "429 before 405", As: full, Method: http.MethodPut, Path: "/v1/services", WantStatus: 429},
			{Name: "429 before 403 of a scope", As: full, Method: http.MethodPost, Path: "/v1/services", Body: body{}, WantStatus: 429},
			{Name: "404 of the route before 403 of a scope", As: reader, Method: http.MethodPost, Path: "/v1/secrets/x/y", Body: body{}, WantStatus: 404},
			{Name: "405 before 403 of a scope", As: reader, Method: http.MethodPut, Path: "/v1/secrets", Body: body{}, WantStatus: 405},
			{Name: "403 of a scope before 413", As: reader, Method: http.MethodPost, Path: "/v1/services", Body: huge, WantStatus: 403},
			{Name: "403 of a scope before 415", As: reader, Method: http.MethodPost, Path: "/v1/services", Header: text, Body: "x", WantStatus: 403},
			{Name: "403 of a scope before 400", As: reader, Method: http.MethodPatch, Path: service + "?x=y", Body: "{", WantStatus: 403},
			{Name: "403 of a scope before 404 of the row", As: reader, Method: http.MethodDelete, Path: nothing, WantStatus: 403},
			{Name: "413 before 415", As: as, Method: http.MethodPost, Path: "/v1/services", Header: text, Body: huge, WantStatus: 413},
			{Name: "413 before 400", As: as, Method: http.MethodPost, Path: "/v1/services?x=y", Body: huge, WantStatus: 413},
			{Name: "415 before 400", As: as, Method: http.MethodPost, Path: "/v1/services?x=y", Header: text, Body: "{", WantStatus: 415},
			{Name: "415 before 404 of the row", As: as, Method: http.MethodPatch, Path: nothing, Header: text, Body: "{}", WantStatus: 415},
			{Name: "400 before 404 of the row", As: as, Method: http.MethodPatch, Path: nothing, Body: body{"nam": "x"}, WantStatus: 400},
			{Name: "400 of the query before 404 of the row", As: as, Path: nothing + "?x=y", WantStatus: 400},
			{Name: "400 before 403 of the role", As: s.A.Member, Method: http.MethodPost, Path: "/v1/services", Body: body{"nam": "x"}, WantStatus: 400},
			{Name: "404 of the row before 403 of the role", As: s.A.Member, Method: http.MethodDelete, Path: nothing, WantStatus: 404},
			{Name: "404 of the row before 412", As: as, Method: http.MethodDelete, Path: nothing, Header: stale, WantStatus: 404},
			{Name: "403 of the role before 412", As: s.A.Member, Method: http.MethodDelete, Path: service, Header: stale, WantStatus: 403},
			{Name: "403 of the role before 409", As: s.A.Member, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "Taken"}, WantStatus: 403},
			{Name: "412 before 409", As: as, Method: http.MethodDelete, Path: service, Header: stale, WantStatus: 412},
			{Name: "409 at last", As: as, Method: http.MethodDelete, Path: service, WantStatus: 409},
		})

		// 400 before 409: answers that the form refuses, for an offering that is inactive.
		g := offered(t, s, as, laptopForm)
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/services/" + g.service, Body: body{"status": "archived"}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": g.service, "offeringId": g.offering, "title": "x"}, WantStatus: 400, WantFields: []string{"fields.model"}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: body{"serviceId": g.service, "offeringId": g.offering, "title": "x", "fields": body{"model": "13"}}, WantStatus: 409})
		// 400 before 409: ids of no row, with a slug that is taken and an illegal transition.
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "Taken", "ownerTeamId": "team_x"}, WantStatus: 400, WantFields: []string{"ownerTeamId"}})
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPatch, Path: "/v1/requests/" + f.request, Body: body{"status": "COMPLETED", "teamId": "team_x"}, WantStatus: 400, WantFields: []string{"teamId"}})
	})
}
