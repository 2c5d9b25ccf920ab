package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"atrium/internal/platform/store"
)

// metrics holds the Prometheus registry and the metrics of requests.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "atrium_http_request_duration_seconds", Help: "How long requests to the API took, by route and status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"route", "method", "status"})}
	m.requests.WithLabelValues("/v1/requests", "POST", "201") // creates the series before the first call, so that alert rules find it
	m.registry.MustRegister(m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// addReplica registers the metrics of reads that a replica may answer. Without a replica they stay 0.
func (m *metrics) addReplica(s *store.Store) {
	reads := prometheus.CounterOpts{Name: "atrium_replica_reads_total", Help: "Reads that the replica might answer, by who did."}
	by := func(who string) prometheus.CounterOpts {
		o := reads
		o.ConstLabels = prometheus.Labels{"answered_by": who}
		return o
	}
	m.registry.MustRegister(
		prometheus.NewCounterFunc(by("replica"), func() float64 { n, _, _ := s.ReplicaReads(); return float64(n) }),
		prometheus.NewCounterFunc(by("primary"), func() float64 { _, n, _ := s.ReplicaReads(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "atrium_replica_behind_seconds", Help: "For how long the replica has not kept up, so that the primary answers its reads.",
		}, func() float64 { _, _, behind := s.ReplicaReads(); return behind.Seconds() }),
	)
}

// methods are the HTTP methods that become label values. Any other is counted as "other".
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PATCH": true, "PUT": true, "DELETE": true, "OPTIONS": true}

// observe records one request.
func (m *metrics) observe(route, method string, status int, took time.Duration) {
	if !methods[method] {
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// tracing reports whether OpenTelemetry's standard variables name a collector, and do not turn traces off.
func tracing() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// untraceable returns an error for a standard variable that asks for what this program cannot do.
func untraceable() error {
	for _, v := range []struct{ name, known string }{
		{"OTEL_TRACES_EXPORTER", "otlp"}, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
	} {
		if value := os.Getenv(v.name); value != "" && value != v.known {
			return fmt.Errorf("%s: traces are sent by %s alone", v.name, v.known)
		}
		if v.name == "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" && os.Getenv(v.name) != "" {
			break // it replaces the general one
		}
	}
	return nil
}

// startTracing sends traces to the collector that OpenTelemetry's standard variables name. Without one it does nothing. Calls continue
// the trace that their traceparent names.
func startTracing(ctx context.Context) (stop func() error, err error) {
	if !tracing() {
		return func() error { return nil }, nil
	}
	if err := untraceable(); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the trace exporter: %w", err)
	}
	res, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("atrium")), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe the service to the tracer: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return func() error {
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return provider.Shutdown(sctx)
	}, nil
}

// traced wraps the handler with spans if a collector is configured. A span is named by the method and the route, which the gate leaves
// in the call's Pattern.
func traced(h http.Handler) http.Handler {
	if !tracing() {
		return h
	}
	return otelhttp.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.Pattern != "" {
			trace.SpanFromContext(r.Context()).SetAttributes(semconv.HTTPRoute(r.Pattern))
		}
	}), "atrium")
}
