package graph_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	entgo "entgo.io/ent"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// shop is a company with an offering.
type shop struct {
	service  *ent.Service
	offering *ent.Offering
	team     *ent.Team
}

// opened makes a service with an offering and a team in company A.
func opened(t testing.TB, s *apitest.Server) *shop {
	t.Helper()
	ctx := s.World.As(s.World.A, principal.Owner)
	out := &shop{
		team: testkit.Run(t, s.World, ctx, people.CreateTeam, people.CreateTeamInput{
			Name: "Ops", MemberIDs: []string{s.A.Owner.UserID, s.A.Agent.UserID},
		}),
	}
	out.service = testkit.Run(t, s.World, ctx, catalog.CreateService, catalog.CreateServiceInput{
		Name: "IT Support", OwnerTeamID: &out.team.ID, Tags: map[string]string{"env": "prod"},
	})
	out.offering = testkit.Run(t, s.World, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
		ByID: op.ByID{ID: out.service.ID}, Name: "New laptop",
	})
	return out
}

// filed makes a request as a person of the role.
func (h *shop) filed(t testing.TB, s *apitest.Server, role principal.Role, title string) *ent.Request {
	t.Helper()
	return testkit.Run(t, s.World, s.World.As(s.World.A, role), request.Create, request.CreateInput{
		ServiceID: h.service.ID, OfferingID: h.offering.ID, Title: title,
	})
}

// robotOf makes a service account that may work on requests, with a key, and returns its id and the caller.
func robotOf(t testing.TB, s *apitest.Server) (string, apitest.Caller) {
	t.Helper()
	ctx := s.World.As(s.World.A, principal.Owner)
	role := "agent"
	robot := testkit.Run(t, s.World, ctx, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Robot", Role: &role})
	key := testkit.Run(t, s.World, ctx, apikey.Create, apikey.CreateInput{
		Name: "Robot's", Scopes: principal.ScopeNames, ServiceAccountID: &robot.ID,
	})
	return robot.ID, apitest.Caller{Name: "robot's key", Header: http.Header{"X-Api-Key": {key.Value}}, Company: s.World.A.Company.ID, KeyID: key.ID}
}

// grow makes more services, from number from to number to, with offerings, teams and requests each, directly in the database.
func grow(t testing.TB, s *apitest.Server, from, to int) {
	t.Helper()
	ctx := s.World.As(s.World.A, principal.Owner)
	require.NoError(t, s.World.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for i := from; i < to; i++ {
			org, err := tx.Organization.Create().SetName("O").SetSlug(fmt.Sprint("o", i)).Save(ctx)
			if err != nil {
				return err
			}
			team, err := tx.Team.Create().SetName("T").SetSlug(fmt.Sprint("t", i)).SetOrganization(org).Save(ctx)
			if err != nil {
				return err
			}
			for _, u := range s.World.A.Users {
				if err := tx.TeamMember.Create().SetTeam(team).SetUser(u).Exec(ctx); err != nil {
					return err
				}
			}
			svc, err := tx.Service.Create().SetName("S").SetSlug(fmt.Sprint("s", i)).SetOwnerTeam(team).SetOrganization(org).Save(ctx)
			if err != nil {
				return err
			}
			for j := range 3 {
				off, err := tx.Offering.Create().SetName("F").SetSlug(fmt.Sprint("f", j)).SetService(svc).Save(ctx)
				if err != nil {
					return err
				}
				err = tx.Request.Create().SetTitle("R").SetServiceID(svc.ID).SetOffering(off).SetCreatedBy(s.A.Owner.UserID).
					SetTeam(team).SetAssigneeID(s.A.Agent.UserID).Exec(ctx)
				if err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// counting counts the queries that operations send from now on. It leaves out those that authenticate the caller or read its
// company's policies, which are cached.
func counting(s *apitest.Server) *atomic.Int64 {
	n := &atomic.Int64{}
	s.World.Store.Reader().Intercept(entgo.InterceptFunc(func(next entgo.Querier) entgo.Querier {
		return entgo.QuerierFunc(func(ctx context.Context, q entgo.Query) (entgo.Value, error) {
			if p, ok := principal.From(ctx); ok && p.CompanyID != "" && p.Type != principal.TypeSystem {
				n.Add(1)
			}
			return next.Query(ctx, q)
		})
	}))
	return n
}
