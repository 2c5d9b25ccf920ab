package execution

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/ent/execution"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// Measure registers the Prometheus metrics of this process's executions. No label names a company or contains a customer's
// text. It panics if the registry has the metrics already.
func Measure(r prometheus.Registerer) {
	r.MustRegister(measured.transitions, measured.took, measured.incidents, measured.started, measured.ended)
}

// measured belongs to the process: operations such as Cancel are values of this package and know no registry.
var measured = newMeasures()

type measures struct {
	transitions, incidents, started, ended *prometheus.CounterVec

	took *prometheus.HistogramVec
}

// newMeasures returns metrics whose series exist from the start.
func newMeasures() *measures {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &measures{
		transitions: counter("atrium_execution_transitions_total", "Phases that executions left, by the phase's type and by how it ended.", "type", "outcome"),
		incidents:   counter("atrium_execution_incidents_total", "Incidents that were opened, by code.", "code"),
		started:     counter("atrium_executions_started_total", "Executions that entered their first phase, by what started them.", "trigger"),
		ended:       counter("atrium_executions_ended_total", "Executions that ended, by outcome.", "outcome"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atrium_execution_step_duration_seconds", Help: "From the look at an execution to the commit, an outside call included, by the type of the first phase of the step.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"type"}),
	}
	for _, t := range []definition.Type{
		definition.Start, definition.Process, definition.Decision, definition.Data, definition.Timer, definition.WebhookCallout, definition.APICall, definition.Approval,
		definition.CallWorkflow, definition.InParallel, definition.ForEach, definition.Join, definition.End,
	} {
		m.took.WithLabelValues(string(t))
		for _, outcome := range []engine.Status{engine.Completed, engine.Skipped, engine.Failed} {
			m.transitions.WithLabelValues(string(t), string(outcome))
		}
	}
	for _, code := range []string{
		engine.ExpressionFailed, engine.CallFailed, engine.ParticipantMissing, engine.RequestConflict, engine.RequestRefused, engine.CalendarFailed,
		engine.WorkflowFailed, engine.WorkflowMissing, engine.CallsTooDeep, engine.TooManyCalls, codeSecret, codeSecrets, codeHost, codeNoWay,
	} {
		m.incidents.WithLabelValues(code)
	}
	for _, t := range []execution.Trigger{execution.TriggerRequest, execution.TriggerWebhook, execution.TriggerSchedule, execution.TriggerWorkflow} {
		m.started.WithLabelValues(string(t))
	}
	for _, outcome := range []engine.Status{engine.Completed, engine.Failed, engine.Cancelled} {
		m.ended.WithLabelValues(string(outcome))
	}
	return m
}

// committed counts what a commit wrote; took is the duration of its step.
func (m *measures) committed(p *plan, took time.Duration) {
	if p.was.Visit == nil && p.state.Visit != nil {
		m.started.WithLabelValues(string(p.row.Trigger)).Inc()
	}
	m.took.WithLabelValues(string(p.history[0].Type)).Observe(took.Seconds())
	m.left(p)
	for _, e := range p.effects {
		if e, ok := e.(engine.OpenIncident); ok {
			m.incidents.WithLabelValues(e.Fault.Code).Inc()
		}
	}
}

// left counts the phases that a plan leaves, and the end of the execution. When an operation cancels an execution, it counts
// before the commit, which may still fail.
func (m *measures) left(p *plan) {
	for _, v := range p.history {
		if v.FinishedAt != nil {
			m.transitions.WithLabelValues(string(v.Type), string(v.Status)).Inc()
		}
	}
	if p.state.Status.Final() {
		m.ended.WithLabelValues(string(p.state.Status)).Inc()
	}
}
