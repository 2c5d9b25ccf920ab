package execution_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/internal/op"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// Executions are counted with labels that the product defines; every series exists before anything was counted.
func TestExecutionsAreMeasured(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		registry := prometheus.NewRegistry()
		run.Measure(registry)
		before := gathered(t, registry)
		to := receiver.New(t, receiver.Status(http.StatusTeapot, ""))
		s := open(t, w, line([]body{phase("start", "START", nil), phase("call", "API_CALL", body{"method": "GET", "url": to.URL, "retries": body{"max": 0}}), phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "call")
		testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.awaitIncident(r).ID}, Action: "SKIP"})
		s.at(r, "COMPLETED", "done")
		r = s.file(nil)
		s.awaitIncident(r)
		testkit.Run(t, w, s.ctx, run.Cancel, op.ByID{ID: *r.ExecutionID})

		// Other tests of this process are counted, too.
		for series, n := range map[string]float64{
			"atrium_executions_started_total trigger=request": 2, "atrium_executions_ended_total outcome=COMPLETED": 1, "atrium_executions_ended_total outcome=CANCELLED": 1,
			"atrium_execution_incidents_total code=call_failed": 2, "atrium_execution_step_duration_seconds type=API_CALL": 3,
			"atrium_execution_transitions_total outcome=COMPLETED type=START": 2, "atrium_execution_transitions_total outcome=SKIPPED type=API_CALL": 2,
			"atrium_execution_transitions_total outcome=COMPLETED type=END": 1,
		} {
			require.Contains(t, before, series)
			require.Eventually(t, func() bool { return gathered(t, registry)[series] >= before[series]+n }, patience, tick, series)
		}
		require.Contains(t, before, "atrium_execution_transitions_total outcome=FAILED type=WEBHOOK_CALLOUT")
		require.Len(t, gathered(t, registry), len(before), "a series that was not there from the start")
	})
}

// gathered returns counts by name and labels.
func gathered(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				name = append(name, l.GetName()+"="+l.GetValue())
			}
			out[strings.Join(name, " ")] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

func (s *shop) awaitIncident(r *ent.Request) *ent.Incident {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID)).CountX(s.ctx) > 0
	}, patience, tick)
	return s.incident(r)
}
