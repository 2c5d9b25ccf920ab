package requestimport_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	entimport "atrium/ent/requestimport"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/requestimport"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long tests wait for the worker, and how often they look.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// desk is a company with an offering, into which tables are brought.
type desk struct {
	*testkit.World
	t        *testing.T
	owner    context.Context
	offering *ent.Offering // "Laptop" of the service "IT"
}

func open(t *testing.T, w *testkit.World) *desk {
	t.Helper()
	d := &desk{World: w, t: t, owner: w.As(w.A, principal.Owner)}
	s := testkit.Run(t, w, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	asks := form.Definition{Fields: []form.Field{{Key: "model", Type: form.Text, Required: true}, {Key: "price", Type: form.Number}, {Key: "proof", Type: form.File}}}
	d.offering = testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", Form: &asks})
	return d
}

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { test(t, open(t, w)) })
}

// work makes a node bring imports in until stop is called or the test ends.
func (d *desk) work() (stop func()) {
	d.t.Helper()
	return d.WorkJobs(d.t, requestimport.WorkSoon(d.Engine))
}

// bring sends a table, and tries to start it.
func (d *desk) bring(as context.Context, in requestimport.CreateInput) *ent.RequestImport {
	d.t.Helper()
	in.ServiceID, in.OfferingID = &d.offering.ServiceID, &d.offering.ID
	return testkit.Run(d.t, d.World, as, requestimport.Create, in)
}

// refused sends a table, and returns why it was refused.
func (d *desk) refused(as context.Context, in requestimport.CreateInput) error {
	d.t.Helper()
	_, _, err := op.Run(as, d.Engine, requestimport.Create, in, &op.Call{})
	require.Error(d.t, err)
	return err
}

// ended waits until an import has ended.
func (d *desk) ended(id string) (i *ent.RequestImport) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		i = testkit.Run(d.t, d.World, d.owner, requestimport.Get, op.ByID{ID: id})
		return i.FinishedAt != nil
	}, patience, tick)
	return i
}

// requests returns what was brought in, the oldest first.
func (d *desk) requests() []*ent.Request {
	d.t.Helper()
	all, err := d.Store.Reader().Request.Query().Order(ent.Asc("created_at", "number")).All(d.owner)
	require.NoError(d.t, err)
	return all
}

var completed = entimport.StatusCOMPLETED
