package execution

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"atrium/internal/platform/egress"
	"atrium/internal/workflow/engine"
)

const tracerName = "atrium/internal/workflow/execution"

// tracerOf returns the provider's tracer, or the process's default for nil, which does nothing unless traces are exported.
func tracerOf(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		p = otel.GetTracerProvider()
	}
	return p.Tracer(tracerName)
}

// traceOf returns the parent of all spans of an execution. It derives from the execution's id, so that every node adds to the
// same trace and nothing is stored. No span has the parent's id.
func traceOf(executionID string) trace.SpanContext {
	sum := sha256.Sum256([]byte(executionID))
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

const traceparent = "traceparent" // of the W3C's Trace Context

// causeOf returns the span of the call that the context belongs to, for StepArgs.Cause; empty when the call is not traced.
func causeOf(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return c[traceparent]
}

// step is one run over an execution, for traces and metrics. A run that commits nothing leaves no trace.
type step struct {
	began time.Time
	span  trace.Span // of the commit's first phase; the outside call is its child
}

// begin starts a step. cause is StepArgs.Cause. The context returned is for the step's outside call.
func (r *Runner) begin(ctx context.Context, executionID, cause string) (context.Context, step) {
	var links []trace.Link
	if cause != "" {
		from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{traceparent: cause})
		links = append(links, trace.LinkFromContext(from))
	}
	s := step{began: time.Now()}
	ctx, s.span = r.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, traceOf(executionID)), "step", trace.WithLinks(links...))
	return ctx, s
}

// committed records a commit: one span for each phase that it entered or left, and the metrics.
func (r *Runner) committed(s step, p *plan) {
	measured.committed(p, time.Since(s.began))
	if !s.span.IsRecording() {
		return
	}
	under := trace.ContextWithRemoteSpanContext(context.Background(), traceOf(p.row.ID))
	for i, v := range p.history {
		span := s.span
		if i > 0 {
			_, span = r.tracer.Start(under, "step")
		}
		version := p.row.WorkflowVersion
		if p.version != 0 {
			version = p.version
		}
		outcome := string(v.Status)
		if v.Fault != nil && v.Status == engine.Waiting {
			outcome = "INCIDENT"
		}
		span.SetName(string(v.Type))
		span.SetAttributes(attribute.String("atrium.company", p.row.CompanyID), attribute.String("atrium.execution", p.row.ID),
			attribute.String("atrium.workflow", p.row.WorkflowID), attribute.Int("atrium.workflow.version", version),
			attribute.String("atrium.phase", v.PhaseID), attribute.String("atrium.phase.type", string(v.Type)), attribute.Int("atrium.visit", v.Number),
			attribute.Int("atrium.attempt", v.Attempts), attribute.String("atrium.outcome", outcome))
		if v.Fault != nil && v.Status != engine.Skipped {
			span.SetStatus(codes.Error, v.Fault.Code) // its message may contain a customer's text
		}
		span.End()
	}
}

// beginCall starts the span of an outside call, with its method and host, and nothing of its content.
func (r *Runner) beginCall(ctx context.Context, p *prepared) trace.Span {
	_, span := r.tracer.Start(ctx, p.request.Method, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(semconv.HTTPRequestMethodKey.String(p.request.Method), semconv.ServerAddress(p.mask.Text(p.request.URL.Hostname())))
	}
	return span
}

// endCall ends the span of a call with the answer's status, and with the class of failure if no complete answer came.
func endCall(span trace.Span, status int, err error) {
	if status != 0 {
		span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	}
	if status >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	if e, ok := errors.AsType[*egress.Error](err); ok {
		span.SetStatus(codes.Error, string(e.Class)) // its text contains addresses
	}
	span.End()
}
