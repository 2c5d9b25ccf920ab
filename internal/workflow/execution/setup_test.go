package execution_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/task"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shop is a world in which one company has an offering with a workflow, and executions run.
type shop struct {
	*testkit.World
	t        testing.TB
	ctx      context.Context // of the owner
	workflow *ent.Workflow
	service  *ent.Service
	offering *ent.Offering
	traces   trace.TracerProvider // of the runner; nil for none
}

// body is a JSON object.
type body = map[string]any

// line joins phases into a definition: each leads to the next one, besides the given transitions.
func line(phases []body, transitions ...body) body {
	for i := range phases[:len(phases)-1] {
		transitions = append(transitions, body{"from": phases[i]["id"], "name": "next", "to": phases[i+1]["id"]})
	}
	return body{"phases": phases, "transitions": transitions}
}

func phase(id, kind string, config body) body {
	p := body{"id": id, "type": kind}
	if config != nil {
		p["config"] = config
	}
	return p
}

// open creates the company's offering, and publishes its workflow.
func open(t testing.TB, w *testkit.World, definition body) *shop {
	t.Helper()
	return openFor(t, w, w.A, definition)
}

func openFor(t testing.TB, w *testkit.World, of *testkit.Tenant, definition body) *shop {
	t.Helper()
	raw, err := json.Marshal(definition)
	require.NoError(t, err)
	s := &shop{World: w, t: t, ctx: w.As(of, principal.Owner)}
	s.workflow = testkit.Run(t, w, s.ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Process", Definition: workflow.NewDefinition(raw)})
	s.workflow = testkit.Run(t, w, s.ctx, workflow.PublishWorkflow, op.ByID{ID: s.workflow.ID})
	s.service = testkit.Run(t, w, s.ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	s.offering = testkit.Run(t, w, s.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.service.ID}, Name: "Laptop", WorkflowID: &s.workflow.ID})
	return s
}

// How long tests wait for background work, and how often they check.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// work runs executions until the test ends, or stop is called. No call leaves the machine.
func (s *shop) work() (stop func()) {
	s.t.Helper()
	return s.workLogged(io.Discard)
}

func (s *shop) workLogged(to io.Writer, more ...jobs.Option) (stop func()) {
	s.t.Helper()
	log := slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
	runner := run.New(run.Options{Engine: s.Engine, Egress: receiver.Client(s.t, 0), Traces: s.traces})
	q, err := jobs.New(s.Store, log, true, append(more, runner.Work())...)
	require.NoError(s.t, err)
	return testkit.RunQueue(s.t, q)
}

// file files a request.
func (s *shop) file(fields body) *ent.Request {
	s.t.Helper()
	return testkit.Run(s.t, s.World, s.ctx, request.Create, request.CreateInput{ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: "A laptop", Fields: fields})
}

// fileFor files a request for somebody else.
func (s *shop) fileFor(requester string) *ent.Request {
	s.t.Helper()
	return testkit.Run(s.t, s.World, s.ctx, request.Create, request.CreateInput{
		ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: "A laptop", RequesterID: &requester,
	})
}

// at waits until the request's execution has a status and, unless phase is empty, is in that phase.
func (s *shop) at(r *ent.Request, status, phase string) *ent.Execution {
	s.t.Helper()
	var row *ent.Execution
	require.Eventually(s.t, func() bool {
		var err error
		row, err = s.Store.Reader().Execution.Get(s.ctx, *r.ExecutionID)
		require.NoError(s.t, err)
		return string(row.Status) == status && (phase == "" || row.PhaseID != nil && *row.PhaseID == phase)
	}, patience, tick, "%s %s", status, phase)
	return row
}

func (s *shop) request(r *ent.Request) *ent.Request {
	s.t.Helper()
	now, err := s.Store.Reader().Request.Get(s.ctx, r.ID)
	require.NoError(s.t, err)
	return now
}

func (s *shop) tasks(r *ent.Request, status string) []*ent.Task {
	s.t.Helper()
	rows, err := s.Store.Reader().Task.Query().Where(task.RequestID(r.ID), task.StatusEQ(task.Status(status))).All(s.ctx)
	require.NoError(s.t, err)
	return rows
}

// task returns the only open task.
func (s *shop) task(r *ent.Request) *ent.Task {
	s.t.Helper()
	rows := s.tasks(r, "OPEN")
	require.Len(s.t, rows, 1)
	return rows[0]
}

func (s *shop) approval(r *ent.Request) *ent.Approval {
	s.t.Helper()
	row, err := s.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID), approval.StatusEQ(approval.StatusPENDING)).Only(s.ctx)
	require.NoError(s.t, err)
	return row
}

func (s *shop) incident(r *ent.Request) *ent.Incident {
	s.t.Helper()
	row, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID), incident.StatusEQ(incident.StatusOPEN)).Only(s.ctx)
	require.NoError(s.t, err)
	return row
}

// path returns the phases that an execution has entered, with the status of each.
func (s *shop) path(r *ent.Request) []string {
	s.t.Helper()
	visits, err := s.Store.Reader().PhaseVisit.Query().Where(phasevisit.ExecutionID(*r.ExecutionID)).Order(phasevisit.ByNumber()).All(s.ctx)
	require.NoError(s.t, err)
	var out []string
	for i, v := range visits {
		require.Equal(s.t, i+1, v.Number)
		out = append(out, v.PhaseID+" "+string(v.Status))
	}
	return out
}

// complete completes the request's only open task.
func (s *shop) complete(r *ent.Request, outcome string, variables body) *ent.Task {
	s.t.Helper()
	in := run.CompleteTaskInput{ByID: op.ByID{ID: s.task(r).ID}, Variables: variables}
	if outcome != "" {
		in.Outcome = &outcome
	}
	return testkit.Run(s.t, s.World, s.ctx, run.CompleteTask, in)
}

// publish publishes a definition as the workflow's next version.
func (s *shop) publish(definition body) {
	s.t.Helper()
	raw, err := json.Marshal(definition)
	require.NoError(s.t, err)
	testkit.Run(s.t, s.World, s.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: s.workflow.ID}, Definition: op.SetTo(workflow.NewDefinition(raw))})
	testkit.Run(s.t, s.World, s.ctx, workflow.PublishWorkflow, op.ByID{ID: s.workflow.ID})
}
