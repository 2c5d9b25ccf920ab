package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// Company A makes the worst calls that its policies, forms and definitions allow, while all turns of costly work are taken.
// None of them keeps company B from writing: what forms and definitions cost is not inside a transaction, where it waits for its
// turn, and what policies cost is bounded. One PATCH took 9.4 s there once, and every other write waited for it.
func TestOneCompanyDoesNotStopAnother(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for name, attack := range attack(t, w, true) {
			held, free := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, holds, turn{Held: held, Free: free}, nil)
				assert.NoError(t, err)
			})
			<-held
			done := make(chan struct{})
			wg.Go(func() {
				defer close(done)
				attack(context.Background())
			})
			for i := range 20 {
				testkit.Run(t, w, w.As(w.B, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint(name, i)})
			}
			select {
			case <-done:
				assert.NotContains(t, []string{"form", "definition"}, name, "it did not wait for its turn")
			default:
			}
			close(free)
			wg.Wait()
		}
	})
}

// A list under the worst policies ends by its deadline with a refusal that says why, and other companies' lists do not wait for
// it: it holds one connection at a time, whoever else of the company asks.
func TestListsUnderSlowPoliciesEnd(t *testing.T) {
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		for i := range 50 {
			testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint("Slow ", i), Description: new(strings.Repeat("a", 10_000))})
		}
		slowPolicies(t, w, 198, []string{`"resource.description": {"glob": "` + slowGlob + `"}`, `"resource.name": "nobody"`})
		testkit.Run(t, w, w.As(w.B, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{Name: "Other"})
		var wg sync.WaitGroup
		done := make(chan struct{})
		for range 2 {
			wg.Go(func() {
				for _, page := range []paging.Page{{Size: 100}, {Size: 100, Window: &paging.Window{Uncounted: true}}} {
					_, _, err := op.Run(owner, w.Engine, catalog.ListServices, catalog.ListServicesInput{Page: page}, nil)
					e := apperr.From(err)
					if assert.Error(t, err) {
						assert.Equal(t, apperr.Unavailable, e.Code, err)
					}
				}
			})
		}
		go func() { wg.Wait(); close(done) }()
		for n := 0; ; n++ {
			select {
			case <-done:
				assert.Greater(t, n, 20, "another company waited")
				return
			default:
				out := testkit.Run(t, w, w.As(w.B, principal.Owner), catalog.ListServices, catalog.ListServicesInput{})
				assert.Equal(t, 1, out.Total)
			}
		}
	})
}

// holds takes the company's turn of costly work until it is freed.
var holds = op.New("accessPolicy.hold", op.Spec{Resource: "AccessPolicy", Action: op.Update, AdminLayer: true},
	func(context.Context, *op.Tx, turn) (struct{}, error) { return struct{}{}, nil }).
	Prepared(func(ctx context.Context, tx *op.Tx, in turn) (any, error) {
		return nil, tx.Costly(ctx, func(context.Context) error {
			close(in.Held)
			<-in.Free
			return nil
		})
	})

type turn struct {
	Held chan struct{} `json:"-"`
	Free chan struct{} `json:"-"`
}

// What the writes of a company take at most times (p99) while another attacks, and while it makes as many harmless calls.
func BenchmarkNeighbour(b *testing.B) {
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		w := world(b)
		for _, kind := range []string{"calm", "attacked"} { // in this order: nobody gets far under the policies of the second
			attacks := attack(b, w, kind == "attacked")
			attacks["list"] = func(ctx context.Context) {
				owner, _ := principal.From(w.As(w.A, principal.Owner))
				_, _, _ = op.Run(principal.With(ctx, owner), w.Engine, catalog.ListServices, catalog.ListServicesInput{}, nil)
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				ctx, stop := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				for _, attack := range attacks {
					wg.Go(func() {
						for ctx.Err() == nil {
							attack(ctx)
						}
					})
				}
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					testkit.Run(b, w, w.As(w.B, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{
						Name: "S", Slug: new(fmt.Sprint("s-", time.Now().UnixNano())),
					})
					took = append(took, time.Since(start))
				}
				stop()
				wg.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}

// slowGlob takes the databases as long as a glob can.
var slowGlob = strings.Repeat("*"+strings.Repeat("a", 24), 8)[:199]

// slowPolicies makes company A deny everything on services by a condition, n times with globs that differ: equal ones are asked once.
func slowPolicies(t testing.TB, w *testkit.World, n int, condition []string) {
	t.Helper()
	owner := w.As(w.A, principal.Owner)
	in := policy.NewCondition([]byte("{" + strings.Join(condition, ", ") + "}"))
	made := testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "worst", Effect: "Deny", Action: "*", Resource: "Service", Condition: &in})
	require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
		for i := range n - 1 {
			condition := strings.ReplaceAll(string(made.Condition), slowGlob, fmt.Sprintf("%s%03d", slowGlob[:196], i))
			err := tx.AccessPolicy.Create().SetName(fmt.Sprint(i)).SetEffect(made.Effect).SetAction(made.Action).SetResource(made.Resource).
				SetCondition([]byte(condition)).SetCreatedBy("usr_1").Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	w.Store.AuthorityChanged()
}

// attack returns the calls of company A: a change of a row that its policies look at, a request against a form, and a
// definition that is published.
func attack(t testing.TB, w *testkit.World, worst bool) map[string]func(context.Context) {
	t.Helper()
	owner := w.As(w.A, principal.Owner)
	tags := map[string]string{}
	condition := []string{`"resource.name": "nobody"`}
	pattern, text, definition := "a+", "aaa", `{"phases":[{"id":"start","type":"START"},{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"end"}]}`
	policies := 0
	if worst {
		policies = 1 // of 41 globs: a company's may have 50 together
		condition = append(condition, `"resource.description": {"glob": "`+slowGlob+`"}`)
		for i := range 40 {
			tags[fmt.Sprintf("t%d", i)] = strings.Repeat("a", 256)
			condition = append(condition, fmt.Sprintf(`"resource.tags.t%d": {"glob": "%s"}`, i, slowGlob))
		}
		pattern, text = "(?:.*.*a.*){300}c", strings.Repeat("ab", 5_000)
		var phases, transitions []string
		for i := range 150 {
			phases = append(phases, fmt.Sprintf(`{"id":"d%d","type":"DECISION","config":{"rules":[{"when":"%s","transition":"a"}],"default":"b"}}`, i,
				strings.Repeat("request.title == 'x' || ", 15)+"true"))
			next := fmt.Sprintf("d%d", i+1)
			if i == 149 {
				next = "end"
			}
			transitions = append(transitions, fmt.Sprintf(`{"from":"d%d","name":"a","to":"%s"},{"from":"d%d","name":"b","to":"end"}`, i, next, i))
		}
		definition = `{"phases":[{"id":"start","type":"START"},` + strings.Join(phases, ",") + `,{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"d0"},` + strings.Join(transitions, ",") + `]}`
	}
	name := fmt.Sprint("Attack ", worst)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: name, Tags: tags, Description: new(strings.Repeat("a", 10_000))})
	off := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{
		ByID: op.ByID{ID: s.ID}, Name: "O", Form: &form.Definition{Fields: []form.Field{{Key: "a", Type: form.Text, Pattern: pattern}}},
	})
	wf := testkit.Run(t, w, owner, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: name, Definition: workflow.NewDefinition([]byte(definition))})
	if policies > 0 {
		slowPolicies(t, w, policies, condition)
	}
	as := func(ctx context.Context) context.Context { // the caller's, whose context ends with the attack
		p, _ := principal.From(owner)
		return principal.With(ctx, p)
	}
	n := 0
	return map[string]func(context.Context){
		"policies": func(ctx context.Context) {
			n++
			_, _, _ = op.Run(as(ctx), w.Engine, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.ID}, Description: op.SetTo(strings.Repeat("a", 9_990) + fmt.Sprint(n))}, nil)
		},
		"form": func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "R", Fields: map[string]any{"a": text}}, nil)
		},
		"reference": func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "R", Fields: map[string]any{}}, nil)
		},
		"definition": func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, workflow.PublishWorkflow, op.ByID{ID: wf.ID}, nil)
		},
	}
}
