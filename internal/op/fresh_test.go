package op_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Operations that require a recent sign-in: one always, the others only for some inputs.
var (
	dangers = op.New("apikey.rotate", op.Spec{Resource: "Service", Action: op.Update},
		func(context.Context, *op.Tx, named) (struct{}, error) { return struct{}{}, nil })

	dangersRow = op.OnRow("service.update", op.Spec{
		Resource: "Service", Action: op.Update, Scope: "services:write",
	}, loadService, func(_ context.Context, _ *op.Tx, s *ent.Service, _ renaming) (*ent.Service, error) { return s, nil }).
		WithVerbs(func(in renaming) []string {
			if in.Name == "fame" {
				return []string{"service.update", "company.update_mfa"}
			}
			return []string{"service.update"}
		}).
		WithRowVerbs(func(row any, _ renaming) []string {
			if row.(*ent.Service).Name == "Core" {
				return []string{"company.update_session"}
			}
			return nil
		})
)

// A session or a token that was left open cannot perform dangerous operations: its person has to sign in again. Keys and
// the operator have no sign-in to repeat.
func TestDangerousOperationsTakeARecentProof(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		w.Clock.SetOffset(time.Hour)
		now := w.Clock.Now()
		asOwner := func(m principal.Method, client string, proven time.Time) context.Context {
			return as(w, principal.Owner, func(p *principal.Principal) { p.Method, p.ClientID, p.AuthenticatedAt = m, client, proven })
		}
		core := testkit.Run(t, w, w.As(w.A, principal.Owner), makes, named{Name: "Core"})
		plain := testkit.Run(t, w, w.As(w.A, principal.Owner), makes, named{Name: "Plain"})
		for name, c := range map[string]struct {
			ctx  context.Context
			want bool
		}{
			"session, just signed in":     {asOwner(principal.MethodSession, "", now), true},
			"session, 14 minutes ago":     {asOwner(principal.MethodSession, "", now.Add(-14*time.Minute)), true},
			"session, 16 minutes ago":     {asOwner(principal.MethodSession, "", now.Add(-16*time.Minute)), false},
			"session, nobody knows when":  {asOwner(principal.MethodSession, "", time.Time{}), false},
			"bearer token, just signed":   {asOwner(principal.MethodBearer, "cli_1", now), true},
			"bearer token, an hour ago":   {asOwner(principal.MethodBearer, "cli_1", now.Add(-time.Hour)), false},
			"bearer token of no grant":    {asOwner(principal.MethodBearer, "cli_1", time.Time{}), false},
			"bearer token of nobody":      {asOwner(principal.MethodBearer, "", time.Time{}), false},
			"the operator's bearer token": {asOwner(principal.MethodBearer, principal.OperatorClient, time.Time{}), true},
			"API key":                     {asOwner(principal.MethodAPIKey, "", time.Time{}), true},
			"the operator":                {principal.With(t.Context(), principal.Operator(w.A.Company.ID, "test")), true},
			"some other way":              {asOwner("carrier pigeon", "", time.Time{}), false},
		} {
			run := func(what string, do func() error, want bool) {
				before := len(entries(t, w, "service.updated")) + len(entries(t, w, "apikey.rotated"))
				err := do()
				if want {
					require.NoError(t, err, "%s: %s", name, what)
					return
				}
				e := refused(t, err, apperr.Forbidden)
				require.Equal(t, op.ReasonStale, e.Reason, name)
				require.Regexp(t, "^dec_", e.DecisionID, name)
				require.Equal(t, before+1, len(entries(t, w, "service.updated"))+len(entries(t, w, "apikey.rotated")), "the denial is audited")
			}
			run("always", func() error { _, _, err := op.Run(c.ctx, w.Engine, dangers, named{Name: "x"}, nil); return err }, c.want)
			update := func(id, to string) func() error {
				return func() error {
					_, _, err := op.Run(c.ctx, w.Engine, dangersRow, renaming{ByID: op.ByID{ID: id}, Name: to}, nil)
					return err
				}
			}
			run("for what the input says", update(plain.ID, "fame"), c.want)
			run("for what the row is", update(core.ID, "x"), c.want)
			run("neither", update(plain.ID, "x"), true)
		}

		// A caller without the right is told so, and is not asked to sign in again.
		stale := as(w, principal.Member, func(p *principal.Principal) { p.AuthenticatedAt = time.Time{} })
		_, _, err := op.Run(stale, w.Engine, dangers, named{Name: "x"}, nil)
		require.Equal(t, "member", refused(t, err, apperr.Forbidden).Reason)
		// A person whose sign-in is too old does not learn whether the row has changed.
		_, _, err = op.Run(asOwner(principal.MethodSession, "", time.Time{}), w.Engine, dangersRow,
			renaming{ByID: op.ByID{ID: core.ID}, Name: "x"}, &op.Call{IfMatch: func(any) bool { return false }})
		refused(t, err, apperr.Forbidden)
	})
}
