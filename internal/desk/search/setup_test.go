package search_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/search"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a company in which requests are filed, talked about and looked for.
type desk struct {
	*testkit.World
	t     testing.TB
	of    *testkit.Tenant
	owner context.Context
}

func newDesk(t testing.TB, w *testkit.World, of *testkit.Tenant) *desk {
	return &desk{w, t, of, w.As(of, principal.Owner)}
}

func (d *desk) offer(service, offering string) *ent.Offering {
	d.t.Helper()
	s := testkit.Run(d.t, d.World, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: service})
	return testkit.Run(d.t, d.World, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: offering})
}

func (d *desk) file(as context.Context, o *ent.Offering, title, description string) string {
	d.t.Helper()
	in := request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: title, Description: &description}
	return testkit.Run(d.t, d.World, as, request.Create, in).ID
}

func (d *desk) say(as context.Context, id, body, visibility string) string {
	d.t.Helper()
	in := request.CreateCommentInput{ByID: op.ByID{ID: id}, Body: body, Visibility: &visibility}
	return testkit.Run(d.t, d.World, as, request.CreateComment, in).ID
}

// find returns the ids of the requests that somebody finds, the newest first, and checks that the list counts as many.
func (d *desk) find(as context.Context, q string) []string {
	d.t.Helper()
	list := testkit.Run(d.t, d.World, as, request.List, request.ListInput{Q: q, Page: paging.Page{Size: 100}})
	ids := []string{}
	for _, r := range list.Rows {
		ids = append(ids, r.ID)
	}
	require.Len(d.t, ids, list.Total, q)
	return ids
}

// among returns those of all requests that somebody finds when they are named, as a stream asks.
func (d *desk) among(as context.Context, q string, ids []string) []string {
	d.t.Helper()
	found := testkit.Run(d.t, d.World, as, request.LookUp, request.LookUpInput{IDs: ids, ListInput: request.ListInput{Q: q}})
	out := []string{}
	for _, id := range ids {
		if found[id] != nil {
			out = append(out, id)
		}
	}
	return out
}

// hide makes a policy that hides rows.
func (d *desk) hide(resource, condition string) {
	d.t.Helper()
	c := policy.NewCondition(json.RawMessage(condition))
	testkit.Run(d.t, d.World, d.owner, policy.Create, policy.CreateInput{Name: "Hide " + resource, Effect: "Deny", Action: "read", Resource: resource, Condition: &c})
}

func (d *desk) indexer() *search.Indexer {
	return search.NewIndexer(d.Store, slog.New(slog.DiscardHandler))
}

// index writes what is to be written.
func (d *desk) index() {
	d.t.Helper()
	require.NoError(d.t, d.indexer().Write(d.t.Context()))
}
