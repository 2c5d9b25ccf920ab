package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// A company that writes the worst policies, forms and definitions that can be saved does not slow another company's
// writes: their p99 is at most twice what it is while the same company makes as many calls of the harmless kind. One PATCH
// took 9.4 s, and every other write waited for it. Rounds are repeated, as the machine may be busy with something else.
func TestOneCompanyDoesNotStopAnother(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		harmless := attack(t, w, false)
		var calm time.Duration
		for range 3 {
			calm = max(calm, p99(t, w, harmless))
		}
		worst := attack(t, w, true)
		for _, once := range worst {
			once(context.Background()) // policies are compiled by the first who asks
		}
		var slow []time.Duration
		for range 10 {
			slow = append(slow, p99(t, w, worst))
			if slow[len(slow)-1] <= 2*calm {
				t.Logf("p99 %v, while attacked %v", calm, slow)
				return
			}
		}
		require.Fail(t, "another company's writes wait", "p99 %v, while attacked %v", calm, slow)
	})
}

// p99 is what the writes of company B take while company A attacks.
func p99(t *testing.T, w *testkit.World, attacks []func(context.Context)) time.Duration {
	t.Helper()
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
	for i := range 100 {
		start := time.Now()
		testkit.Run(t, w, w.As(w.B, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{
			Name: fmt.Sprint("S ", i), Slug: new(fmt.Sprint("s-", time.Now().UnixNano())),
		})
		took = append(took, time.Since(start))
	}
	stop()
	wg.Wait()
	slices.Sort(took)
	return took[98]
}

// attack returns the calls of company A: a change of a row that its policies look at, a request against a form, and a
// definition that is published.
func attack(t *testing.T, w *testkit.World, worst bool) []func(context.Context) {
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
	return []func(context.Context){
		func(ctx context.Context) {
			n++
			_, _, _ = op.Run(as(ctx), w.Engine, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.ID}, Description: op.SetTo(strings.Repeat("a", 9_990) + fmt.Sprint(n))}, nil)
		},
		func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "R", Fields: map[string]any{"a": text}}, nil)
		},
		func(ctx context.Context) {
			_, _, _ = op.Run(as(ctx), w.Engine, workflow.PublishWorkflow, op.ByID{ID: wf.ID}, nil)
		},
	}
}
