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

	"atrium/internal/catalog"
	"atrium/internal/form"
	"atrium/internal/op"
	"atrium/internal/policy"
	"atrium/internal/principal"
	"atrium/internal/request"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/workflow"
)

// Company A makes the worst calls that its policies, forms and definitions allow, while all turns of costly work are taken.
// None of them gets to its end, and none keeps company B from writing: what they cost is not inside a transaction. One
// PATCH took 9.4 s there once, and every other write waited for it.
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
				assert.Fail(t, "the attack did not wait for its turn", name)
			default:
			}
			close(free)
			wg.Wait()
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
		for kind, worst := range map[string]bool{"calm": false, "attacked": true} {
			attacks := attack(b, w, worst)
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

// attack returns the calls of company A: a change of a row that its policies look at, a request against a form, and a
// definition that is published.
func attack(t testing.TB, w *testkit.World, worst bool) map[string]func(context.Context) {
	t.Helper()
	owner := w.As(w.A, principal.Owner)
	tags := map[string]string{}
	condition := []string{`"resource.name": "nobody"`}
	pattern, text, definition := "a+", "aaa", `{"phases":[{"id":"start","type":"START"},{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"end"}]}`
	glob := strings.Repeat("*"+strings.Repeat("a", 24), 8)[:199]
	policies := 0
	if worst {
		policies = 199 // with the one that every company has
		condition = append(condition, `"resource.description": {"glob": "`+glob+`"}`)
		for i := range 40 {
			tags[fmt.Sprintf("t%d", i)] = strings.Repeat("a", 256)
			condition = append(condition, fmt.Sprintf(`"resource.tags.t%d": {"glob": "%s"}`, i, glob))
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
	in := policy.NewCondition([]byte("{" + strings.Join(condition, ", ") + "}"))
	if policies > 0 {
		made := testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "worst", Effect: "Deny", Action: "*", Resource: "Service", Condition: &in})
		require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			for i := range policies - 1 {
				err := tx.AccessPolicy.Create().SetName(fmt.Sprint(i)).SetEffect(made.Effect).SetAction(made.Action).SetResource(made.Resource).
					SetCondition(made.Condition).SetCreatedBy("usr_1").Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		w.Store.AuthorityChanged()
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
		"definition": func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, workflow.PublishWorkflow, op.ByID{ID: wf.ID}, nil)
		},
	}
}
