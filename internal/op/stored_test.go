package op_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// A caller gets the stored answer only if it could make the call now and may still read the row: scopes, roles and policies are
// asked again.
func TestStoredAnswersFollowRights(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		of := func(id string, change ...func(*principal.Principal)) context.Context { // one credential, whatever happens to its rights
			return as(w, principal.Owner, func(p *principal.Principal) {
				p.ID = id
				for _, c := range change {
					c(p)
				}
			})
		}
		weak := func(p *principal.Principal) { p.Role = principal.Member }
		narrow := func(p *principal.Principal) { p.Scopes = principal.ScopeOf("requests:read") }
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Patched"})
		deleted := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Gone"})
		calls := map[string]func(ctx context.Context) (*op.Answer, error){
			"create": func(ctx context.Context) (*op.Answer, error) {
				_, a, err := op.Run(ctx, w.Engine, catalog.CreateService, catalog.CreateServiceInput{Name: "Made"}, keyed("c", 1))
				return a, err
			},
			"update": func(ctx context.Context) (*op.Answer, error) {
				_, a, err := op.Run(ctx, w.Engine, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.ID}, Description: op.SetTo("Secret")}, keyed("u", 1))
				return a, err
			},
			"delete": func(ctx context.Context) (*op.Answer, error) {
				_, a, err := op.Run(ctx, w.Engine, catalog.DeleteService, op.ByID{ID: deleted.ID}, keyed("d", 1))
				return a, err
			},
		}
		for name, call := range calls {
			a, err := call(of("usr_x"))
			require.NoError(t, err, name)
			require.False(t, a.Repeated)
			a, err = call(of("usr_x"))
			require.NoError(t, err, name)
			require.True(t, a.Repeated, name)
			for _, less := range []func(*principal.Principal){weak, narrow} {
				_, err = call(of("usr_x", less))
				if name == "delete" && err != nil {
					require.Contains(t, []apperr.Code{apperr.Forbidden, apperr.NotFound}, apperr.CodeOf(err))
					continue
				}
				refused(t, err, apperr.Forbidden)
			}
		}
		deny := func(action, condition string) *ent.AccessPolicy {
			c := policy.NewCondition([]byte(condition))
			return testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: action, Resource: "Service", Condition: &c})
		}
		allowed := func(want bool, names ...string) {
			t.Helper()
			for _, name := range names {
				a, err := calls[name](of("usr_x"))
				if want {
					require.NoError(t, err, name)
					require.True(t, a.Repeated, name)
				} else {
					refused(t, err, apperr.Forbidden)
				}
			}
		}
		// Policies that hide the rows, and policies that deny the calls.
		p := deny("read", `{"resource.name": ["Made", "Patched"]}`)
		allowed(false, "create", "update")
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		allowed(true, "create", "update")
		p = deny("create", `{}`)
		allowed(false, "create")
		allowed(true, "update")
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		p = deny("create", `{"resource.name": "Made"}`) // the row would be refused, not the call as such
		allowed(false, "create")
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		p = deny("update", `{"resource.description": "Secret"}`)
		allowed(false, "update")
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		allowed(true, "create", "update")
	})
}
