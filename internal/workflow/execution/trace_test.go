package execution_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
)

// An execution is one trace: a span for each phase that a commit entered or left, linked to the call that caused it, and a span
// for each outside call. It contains nothing that somebody wrote into a request, an answer or a secret.
func TestExecutionsAreTraced(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		to := receiver.New(t, receiver.Status(http.StatusCreated, `{"id":"answered"}`))
		call := body{"method": "POST", "url": to.URL + "/orders?key=${secrets.TOKEN}", "body": body{"note": "${request.fields.note} ${secrets.TOKEN}"}, "response": body{"id": "response.body.id"}}
		s := withSecret(t, w, line([]body{phase("start", "START", nil), phase("order", "API_CALL", call), phase("work", "PROCESS", nil), phase("done", "END", nil)}))
		spans := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
		s.traces = provider
		owner := s.ctx
		begin := func(name string) trace.Span {
			var span trace.Span
			s.ctx, span = provider.Tracer("test").Start(owner, name)
			return span
		}
		filing := begin("file")
		r := s.file(body{"note": "written by somebody"})
		s.work()
		s.at(r, "WAITING", "work")
		completing := begin("complete")
		s.complete(r, "", body{"result": "written by somebody"})
		s.at(r, "COMPLETED", "done")

		want := []string{"START COMPLETED", "API_CALL WAITING", "POST 201", "API_CALL COMPLETED", "PROCESS WAITING", "PROCESS COMPLETED", "END COMPLETED"}
		require.Eventually(t, func() bool { return len(spans.GetSpans()) >= len(want) }, patience, tick)
		// A step may end before the spans of the one before it are made, so they have no order.
		list := spans.GetSpans()
		var got []string
		named := map[string]tracetest.SpanStub{}
		for _, span := range list {
			at := attributes(span)
			require.Equal(t, list[0].SpanContext.TraceID(), span.SpanContext.TraceID())
			require.NotEqual(t, filing.SpanContext().TraceID(), span.SpanContext.TraceID())
			require.NotContains(t, fmt.Sprintf("%+v", span), canary)
			for _, secret := range []string{"written by", "answered", "/orders", "key=", "Authorization"} {
				require.NotContains(t, fmt.Sprintf("%+v", span), secret)
			}
			name := span.Name + " " + at["atrium.outcome"]
			if span.SpanKind == trace.SpanKindClient {
				require.Equal(t, "127.0.0.1", at["server.address"])
				name = span.Name + " " + at["http.response.status_code"]
			} else {
				require.Equal(t, []string{s.workflow.CompanyID, *r.ExecutionID, s.workflow.ID, "1", span.Name}, []string{
					at["atrium.company"], at["atrium.execution"], at["atrium.workflow"], at["atrium.workflow.version"], at["atrium.phase.type"],
				})
			}
			named[name] = span
			got = append(got, name)
		}
		require.ElementsMatch(t, want, got)
		post, outcome := named["POST 201"], named["API_CALL COMPLETED"]
		require.Equal(t, outcome.SpanContext.SpanID(), post.Parent.SpanID(), "the call belongs to the step that commits its outcome")
		require.False(t, post.EndTime.After(outcome.EndTime))
		require.True(t, named["START COMPLETED"].StartTime.Before(outcome.StartTime) && outcome.StartTime.Before(named["PROCESS COMPLETED"].StartTime))
		causes := map[string]trace.SpanContext{"START COMPLETED": filing.SpanContext(), "PROCESS COMPLETED": completing.SpanContext()}
		for name, span := range named {
			if span.SpanKind != trace.SpanKindClient {
				require.Equal(t, outcome.Parent.SpanID(), span.Parent.SpanID())
			}
			cause, caused := causes[name]
			require.Equal(t, caused, slices.ContainsFunc(span.Links, func(l sdktrace.Link) bool { return l.SpanContext.SpanID() == cause.SpanID() }), name)
		}
	})
}

// attributes returns a span's attributes as text.
func attributes(s tracetest.SpanStub) map[string]string {
	set := map[string]string{}
	for _, a := range s.Attributes {
		set[string(a.Key)] = a.Value.String()
	}
	return set
}
