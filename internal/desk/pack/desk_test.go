package pack_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/attachment"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/task"
	files "atrium/internal/desk/attachment"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	run "atrium/internal/workflow/execution"
)

// desk is a company whose workflows run.
type desk struct {
	*testkit.World
	t      testing.TB
	ctx    context.Context // of the owner
	member context.Context // who files requests
	rest   bool            // whether tasks take their last outcome
}

// variant says which answers are given.
type variant int

const (
	first variant = iota // what is required alone: the first option, no
	last                 // everything: the last option, yes
)

func open(t testing.TB, w *testkit.World) *desk {
	t.Helper()
	d := &desk{World: w, t: t, ctx: owner(w), member: w.As(w.A, principal.Member)}
	out, err := egress.New(egress.Options{})
	require.NoError(t, err)
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, run.New(run.Options{Engine: w.Engine, Egress: out}).Work())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		out.Close()
	})
	return d
}

// settled waits until an execution has ended, or waits for somebody or for time.
func (d *desk) settled(id, name string) (e *ent.Execution) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		var err error
		e, err = d.Store.Reader().Execution.Get(d.ctx, id)
		require.NoError(d.t, err)
		return e.Status == execution.StatusCOMPLETED || e.Status == execution.StatusFAILED || e.Status == execution.StatusWAITING && len(d.steps(e, true)) == 0
	}, time.Minute, 10*time.Millisecond, "%s", name)
	faults, err := d.Store.Reader().Incident.Query().Where(incident.ExecutionID(id)).All(d.ctx)
	require.NoError(d.t, err)
	for _, f := range faults {
		require.Fail(d.t, "an incident", "%s: %s", name, f)
	}
	require.NotEqual(d.t, execution.StatusFAILED, e.Status, "%s: %s", name, e)
	return e
}

// steps returns when an execution goes on by itself: the jobs that are due, or those that are not.
func (d *desk) steps(e *ent.Execution, due bool) (at []time.Time) {
	d.t.Helper()
	now := d.Clock.Now()
	for _, j := range d.Unfinished(d.t, e.CompanyID) {
		if j.Kind == "execution_step" && strings.Contains(string(j.Args), e.ID) && due != j.At.After(now) {
			at = append(at, j.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// wait moves the clock on to when the execution goes on.
func (d *desk) wait(e *ent.Execution, name string) {
	d.t.Helper()
	later := d.steps(e, false)
	if len(later) == 0 {
		return // it has just gone on
	}
	by := later[0].Sub(d.Clock.Now()) + time.Second
	require.Positive(d.t, by, name)
	d.Clock.SetOffset(d.Clock.Offset() + by)
	require.NoError(d.t, d.Store.Write(principal.System(context.Background(), "the development clock"), func(ctx context.Context, tx *store.Tx) error {
		return d.Queue.Advance(ctx, tx, by)
	}))
}

// tasks completes the open tasks of an execution, and returns how many there were.
func (d *desk) tasks(e *ent.Execution, v variant, name string) int {
	d.t.Helper()
	open, err := d.Store.Reader().Task.Query().Where(task.ExecutionID(e.ID), task.StatusEQ(task.StatusOPEN)).All(d.ctx)
	require.NoError(d.t, err)
	for _, t := range open {
		require.NotNil(d.t, t.TeamID, "%s: the task %s has somebody who does it", name, t.PhaseID)
		in := run.CompleteTaskInput{ByID: op.ByID{ID: t.ID}}
		if len(t.Outcomes) > 0 {
			in.Outcome = &t.Outcomes[0]
			if d.rest {
				in.Outcome = &t.Outcomes[len(t.Outcomes)-1]
			}
		}
		if len(t.Form) > 0 {
			var f form.Definition
			require.NoError(d.t, json.Unmarshal(t.Form, &f))
			in.Variables = d.answers(d.ctx, f, v)
		}
		_, _, err := op.Run(d.ctx, d.Engine, run.CompleteTask, in, nil)
		require.NoError(d.t, err, "%s: complete %s with %v: %s", name, t.PhaseID, in.Variables, said(err))
	}
	return len(open)
}

// approvals has everybody who is asked approve, and returns how many approvals there were.
func (d *desk) approvals(e *ent.Execution, name string) int {
	d.t.Helper()
	open, err := d.Store.Reader().Approval.Query().Where(approval.ExecutionID(e.ID), approval.StatusEQ(approval.StatusPENDING)).All(d.ctx)
	require.NoError(d.t, err)
	for _, a := range open {
		for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Agent} {
			now, err := d.Store.Reader().Approval.Get(d.ctx, a.ID)
			require.NoError(d.t, err)
			if now.Status != approval.StatusPENDING {
				break
			}
			_, _, err = op.Run(d.As(d.A, role), d.Engine, run.DecideApproval, run.DecideApprovalInput{ByID: op.ByID{ID: a.ID}, Decision: "APPROVE"}, nil)
			require.NoError(d.t, err, "%s: %s approves %s", name, role, a.PhaseID)
		}
	}
	return len(open)
}

// answers fills in a form.
func (d *desk) answers(by context.Context, f form.Definition, v variant) map[string]any {
	d.t.Helper()
	out := map[string]any{}
	for _, field := range f.Fields {
		if shown(field, out) && (field.Required || v == last && field.Type != form.File) {
			out[field.Key] = d.answer(by, field, v)
		}
	}
	return out
}

// shown reports whether a field is shown beside the answers before it.
func shown(f form.Field, answers map[string]any) bool {
	for key, want := range f.VisibleWhen {
		got, wanted := list(answers[key]), list(want)
		if !slices.ContainsFunc(got, func(g any) bool {
			return slices.ContainsFunc(wanted, func(w any) bool { return reflect.DeepEqual(g, w) })
		}) {
			return false
		}
	}
	return true
}

func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	}
	return []any{v}
}

func (d *desk) answer(by context.Context, f form.Field, v variant) any {
	d.t.Helper()
	day := d.Clock.Now().AddDate(0, 0, 30)
	me, _ := principal.From(by)
	switch f.Type {
	case form.Number:
		n := op.Or(f.Min, "1")
		if v == last {
			n = op.Or(f.Max, "100000")
		}
		return json.Number(n)
	case form.Boolean:
		return v == last
	case form.Date:
		return day.Format(time.DateOnly)
	case form.DateTime:
		return day.Format(time.RFC3339)
	case form.Email:
		return "somebody@example.com"
	case form.URL:
		return "https://example.com/"
	case form.Select:
		return f.Options[v.of(len(f.Options))]
	case form.MultiSelect:
		return []any{f.Options[v.of(len(f.Options))]}
	case form.User:
		return me.ID
	case form.Team:
		id, err := d.Store.Reader().Team.Query().FirstID(d.ctx)
		require.NoError(d.t, err)
		return id
	case form.File:
		return []any{d.file(by, f)}
	}
	for _, text := range []string{"Example text", "DE89 3704 0044 0532 0130 00", "12345", "A-1"} {
		if f.Pattern == "" || regexp.MustCompile(`^(?:`+f.Pattern+`)$`).MatchString(text) {
			return text
		}
	}
	require.Fail(d.t, "no text fits", "%s: %s", f.Key, f.Pattern)
	return nil
}

// of returns the position of an option.
func (v variant) of(n int) int {
	if v == first {
		return 0
	}
	return n - 1
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// file announces a file that the field takes, as if its bytes had come.
func (d *desk) file(by context.Context, f form.Field) string {
	d.t.Helper()
	name, media := "a.txt", "text/plain"
	for _, kind := range f.Accept {
		switch kind {
		case ".pdf", "application/pdf":
			name, media = "a.pdf", "application/pdf"
		case "image/*", ".png", "image/png":
			name, media = "a.png", "image/png"
		}
	}
	a := testkit.Run(d.t, d.World, by, files.Create, files.CreateInput{Draft: new(true), Name: name, Size: 1})
	require.NoError(d.t, d.Store.Write(principal.System(context.Background(), "test fixture"), func(ctx context.Context, tx *store.Tx) error {
		return tx.Attachment.UpdateOneID(a.ID).SetStatus(attachment.StatusREADY).SetMediaType(media).Exec(ctx)
	}))
	return a.ID
}

// said returns what a refusal says of its first field.
func said(err error) string {
	if err == nil {
		return ""
	}
	return apperr.Said(err)
}
