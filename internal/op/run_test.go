package op_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	all := op.All()
	seen := map[string]bool{}
	for i, info := range all {
		seen[info.Name] = true
		require.NotNil(t, info.Input, info.Name)
		require.NotNil(t, info.Out, info.Name)
		if i > 0 {
			require.LessOrEqual(t, all[i-1].Name, info.Name, "ordered by name")
		}
	}
	require.True(t, seen["service.settle"])
	require.Equal(t, "service.read", gets.Info().Verb)
	require.Equal(t, "service.update", renames.Info().Verb)
	require.False(t, gets.Info().Input.HasBody())
	all[0] = nil
	require.NotNil(t, op.All()[0], "the list is the caller's own")
	require.PanicsWithValue(t, `operation x.y: unknown scope "nothing:read"`, func() {
		op.New("x.y", op.Spec{Scope: "nothing:read"}, func(context.Context, *op.Tx, op.ByID) (struct{}, error) { return struct{}{}, nil })
	})
}

// An operation that succeeds leaves its change, its audit entry and its event.
func TestAllowed(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := as(w, principal.Admin, func(p *principal.Principal) {
			p.Method, p.KeyID, p.KeyName = principal.MethodAPIKey, "key_1", strings.Repeat("ä", 300)
			p.IP, p.UserAgent, p.RequestID = netip.MustParseAddr("::ffff:192.0.2.1"), "agent\x00\xff"+strings.Repeat("u", 400), "rid_1"
		})
		s := testkit.Run(t, w, ctx, makes, named{Name: "Mail"})
		e := entries(t, w, "service.created")
		require.Len(t, e, 1)
		require.Equal(t, "api_key", e[0].ActorType)
		require.Equal(t, "key_1", e[0].ActorID)
		require.LessOrEqual(t, len([]rune(e[0].ActorName)), 200)
		require.Equal(t, "192.0.2.1", e[0].IP)
		require.LessOrEqual(t, len([]rune(e[0].UserAgent)), 300)
		require.NotContains(t, e[0].UserAgent, "\x00")
		require.Equal(t, "rid_1", e[0].RequestID)
		require.Equal(t, "Service", e[0].ResourceType)
		require.Equal(t, s.ID, *e[0].ResourceID)
		require.Equal(t, "allowed", string(e[0].Outcome))
		var changes map[string]audit.Change
		require.NoError(t, json.Unmarshal(e[0].Changes, &changes))
		require.Equal(t, map[string]audit.Change{"name": {To: "Mail"}, "slug": {To: "mail"}, "status": {To: "active"}}, changes)

		ev, err := w.Store.Reader().Event.Query().Where(event.SubjectID(s.ID)).Only(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.Regexp(t, `^\{"data": ?\{"id": ?"svc_|^\{"event"`, string(ev.Payload))

		testkit.Run(t, w, ctx, renames, renaming{ByID: op.ByID{ID: s.ID}, Name: "Post"})
		e = entries(t, w, "service.updated")
		require.Len(t, e, 1)
		require.NoError(t, json.Unmarshal(e[0].Changes, &changes))
		require.Equal(t, audit.Change{From: "Mail", To: "Post"}, changes["name"])

		n := len(entries(t, w, "service.read"))
		testkit.Run(t, w, ctx, gets, op.ByID{ID: s.ID})
		require.Len(t, entries(t, w, "service.read"), n, "a read that is allowed leaves no entry")
	})
}

// A caller without the right gets forbidden, with the deciding rule. The audit entry of the attempt is
// stored although nothing else is.
func TestDenied(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := testkit.Run(t, w, w.As(w.A, principal.Owner), makes, named{Name: "Mail"})
		rename := renaming{ByID: op.ByID{ID: s.ID}, Name: "x"}
		narrow := as(w, principal.Owner, func(p *principal.Principal) { p.Scopes = principal.ScopeOf("services:read") })
		key := as(w, principal.Owner, func(p *principal.Principal) { p.Method, p.KeyID = principal.MethodAPIKey, "key_1" })
		n := 0
		for name, tc := range map[string]struct {
			run            func() error
			reason, action string
			target         bool
		}{
			"scope":         {func() error { _, _, err := op.Run(narrow, w.Engine, renames, rename, nil); return err }, "services:write", "service.updated", true},
			"scope, create": {func() error { _, _, err := op.Run(narrow, w.Engine, makes, named{Name: "y"}, nil); return err }, "services:write", "service.created", false},
			"role": {func() error {
				_, _, err := op.Run(w.As(w.A, principal.Member), w.Engine, renames, rename, nil)
				return err
			}, "member", "service.updated", true},
			"role, create": {func() error {
				_, _, err := op.Run(w.As(w.A, principal.Agent), w.Engine, makes, named{Name: "y"}, nil)
				return err
			}, "agent", "service.created", false},
			"method":   {func() error { _, _, err := op.Run(key, w.Engine, settles, named{Name: "y"}, nil); return err }, "api_key", "service.settled", false},
			"at Admit": {func() error { _, err := renames.Admit(narrow, w.Engine, s.ID); return err }, "services:write", "service.updated", true},
		} {
			before := len(entries(t, w, tc.action))
			e := refused(t, tc.run(), apperr.Forbidden)
			require.Equal(t, tc.reason, e.Reason, name)
			require.Regexp(t, "^dec_", e.DecisionID, name)
			list := entries(t, w, tc.action)
			require.Len(t, list, before+1, name)
			last := list[len(list)-1]
			require.Equal(t, "denied", string(last.Outcome), name)
			if tc.target {
				require.Equal(t, s.ID, *last.ResourceID, name)
			} else {
				require.Nil(t, last.ResourceID, name)
			}
			n++
		}
		require.Equal(t, 1, services(t, w))
		_, err := renames.Admit(w.As(w.A, principal.Member), w.Engine, "")
		require.NoError(t, err, "roles are asked when the row is known")
		_, err = renames.Admit(context.Background(), w.Engine, "")
		refused(t, err, apperr.Unauthorized)
	})
}

// A conflict and an outdated If-Match leave failed audit entries; other errors leave none.
func TestFailed(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s := testkit.Run(t, w, ctx, makes, named{Name: "Mail"})
		create := func(ctx context.Context, in named) error {
			_, _, err := op.Run(ctx, w.Engine, makes, in, nil)
			return err
		}

		e := refused(t, create(ctx, named{Name: "Mail"}), apperr.Conflict)
		require.Equal(t, "Another service has this slug.", e.Message)
		refused(t, create(ctx, named{Name: "Other", Fail: apperr.New(apperr.Conflict, "No.")}), apperr.Conflict)
		list := entries(t, w, "service.created")
		require.Len(t, list, 3)
		require.Equal(t, "failed", string(list[1].Outcome))
		require.Equal(t, "failed", string(list[2].Outcome))

		rename := renaming{ByID: op.ByID{ID: s.ID}, Name: "Post"}
		stale := &op.Call{IfMatch: func(row any) bool { return false }}
		_, _, err := op.Run(ctx, w.Engine, renames, rename, stale)
		refused(t, err, apperr.PreconditionFailed)
		require.Equal(t, "failed", string(entries(t, w, "service.updated")[0].Outcome))
		_, _, err = op.Run(ctx, w.Engine, renames, rename, &op.Call{IfMatch: func(any) bool { return true }})
		require.NoError(t, err)
		require.Equal(t, "allowed", string(entries(t, w, "service.updated")[1].Outcome))
		_, _, err = op.Run(w.As(w.A, principal.Member), w.Engine, renames, rename, stale)
		refused(t, err, apperr.Forbidden) // the role is checked before If-Match

		before := len(entries(t, w, "service.created"))
		e = refused(t, create(ctx, named{Name: "Broken", Fail: errBroken}), apperr.Internal)
		require.ErrorIs(t, e, errBroken)
		require.NotContains(t, e.Message, "broken")
		refused(t, create(ctx, named{}), apperr.Validation)
		refused(t, create(context.Background(), named{Name: "x"}), apperr.Unauthorized)
		require.Len(t, entries(t, w, "service.created"), before)
		require.Equal(t, 1, services(t, w), "nothing of the refused calls stayed")
	})
}

// A row of another company, a row of the other environment and a row that never existed give the same
// answer.
func TestMissingRowsAreAlike(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ofB := testkit.Run(t, w, w.As(w.B, principal.Owner), makes, named{Name: "Mail"})
		sandbox := as(w, principal.Owner, func(p *principal.Principal) { p.CompanyID = w.A.Sandbox.ID })
		ofSandbox := testkit.Run(t, w, sandbox, makes, named{Name: "Mail"})
		for _, id := range []string{ofB.ID, ofSandbox.ID, "svc_00000000000000000000000000", "", "x' OR '1'='1"} {
			_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, gets, op.ByID{ID: id}, nil)
			require.Equal(t, "Service not found.", refused(t, err, apperr.NotFound).Message)
			_, _, err = op.Run(w.As(w.A, principal.Owner), w.Engine, renames, renaming{ByID: op.ByID{ID: id}, Name: "x"}, nil)
			require.Equal(t, "Service not found.", refused(t, err, apperr.NotFound).Message)
		}
	})
}

// An operation may require several verbs; the narrowest decides, and the first names the audit entry.
func TestVerbs(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := testkit.Run(t, w, w.As(w.A, principal.Owner), makes, named{Name: "Mail"})
		call := func(role principal.Role, second string) error {
			_, _, err := op.Run(w.As(w.A, role), w.Engine, accepts, renaming{ByID: op.ByID{ID: s.ID}, Name: second}, nil)
			return err
		}
		require.NoError(t, call(principal.Agent, "update"))
		require.Len(t, entries(t, w, "service.accepted"), 1)
		refused(t, call(principal.Agent, "delete"), apperr.Forbidden)
		refused(t, call(principal.Member, "cancel"), apperr.Forbidden)
		denied := entries(t, w, "request.accepted")
		require.Len(t, denied, 2, "a denial is named after the first verb")
		require.Equal(t, "denied", string(denied[0].Outcome))
	})
}

func TestPatch(t *testing.T) {
	t.Parallel()
	type patch struct {
		A op.Patch[string] `json:"a,omitzero"`
		B op.Patch[int]    `json:"b,omitzero"`
	}
	var p patch
	require.NoError(t, json.Unmarshal([]byte(`{"a":null}`), &p))
	require.True(t, op.Cleared(p.A))
	require.False(t, op.Cleared(p.B))
	b, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":null}`, string(b), "what was not named stays unnamed")

	var got []string
	note := func(s string) func() int { return func() int { got = append(got, s); return 0 } }
	set := func(v int) int { got = append(got, fmt.Sprint(v)); return 0 }
	for _, v := range []op.Patch[int]{{}, op.SetTo(7), func() (q op.Patch[int]) { _ = json.Unmarshal([]byte("null"), &q); return }()} {
		op.Set(v, set)
		op.SetOrClear(v, set, note("cleared"))
	}
	require.Equal(t, []string{"7", "7", "cleared"}, got)
	seven := 7
	require.Equal(t, 7, op.Or(&seven, 1))
	require.Equal(t, 1, op.Or[int](nil, 1))
}

// Run does not decide again what Admit has decided, except finer verbs of the input.
func TestAdmittedCallsAreDecidedOnce(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	spec := op.Spec{Resource: "Company", Action: op.Update, Scope: "services:write"} // no access policy covers this resource
	touch := func(context.Context, *op.Tx, named) (struct{}, error) { return struct{}{}, nil }
	plain := op.New("service.update", spec, touch)
	finer := op.New("service.update", spec, touch).WithVerbs(func(named) []string { return []string{"service.delete"} })
	owner := w.As(w.A, principal.Owner)
	narrow := as(w, principal.Owner, func(p *principal.Principal) { p.Scopes = 0 })

	call, err := plain.Admit(owner, w.Engine, "")
	require.NoError(t, err)
	_, _, err = op.Run(narrow, w.Engine, plain, named{Name: "x"}, call.Checked())
	require.NoError(t, err, "Admit has asked for the scope")
	_, _, err = op.Run(narrow, w.Engine, plain, named{Name: "x"}, op.Call{}.Checked())
	refused(t, err, apperr.Forbidden)
	call, err = finer.Admit(owner, w.Engine, "")
	require.NoError(t, err)
	_, _, err = op.Run(narrow, w.Engine, finer, named{Name: "x"}, call.Checked())
	refused(t, err, apperr.Forbidden)
}

// A refusal is in the audit log although its caller did not wait for the answer.
func TestRefusalOfACallerWhoLeft(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, leave := context.WithCancel(w.As(w.A, principal.Owner))
		refuses := op.New("service.update", op.Spec{Resource: "Company", Action: op.Update, Scope: "services:write"},
			func(context.Context, *op.Tx, named) (struct{}, error) {
				leave()
				return struct{}{}, apperr.New(apperr.Forbidden, "No.")
			})
		_, _, err := op.Run(ctx, w.Engine, refuses, named{Name: "x"}, nil)
		refused(t, err, apperr.Forbidden)
		require.Equal(t, "denied", string(entries(t, w, "service.updated")[0].Outcome))
	})
}
