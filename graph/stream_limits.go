package graph

import (
	"context"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/apperr"
	"atrium/internal/principal"
)

// StreamLimits are how many streams may be open on this node; 0 means the usual number.
type StreamLimits struct {
	PerPrincipal int // of a user or service account, whatever its credentials
	PerCompany   int
	PerNode      int
}

// usualStreams are the limits where nobody sets others.
var usualStreams = StreamLimits{PerPrincipal: 16, PerCompany: 500, PerNode: 5_000}

// readers is how many streams read at the same time: those of a busy company must not keep all of the database's
// connections from other calls. While the others wait, their changes gather.
const readers = 8

// StreamMetrics are what Prometheus collects of streams, by field.
type StreamMetrics struct {
	open  *prometheus.GaugeVec
	sent  *prometheus.CounterVec
	ended *prometheus.CounterVec // by reason, too
}

// NewStreamMetrics registers them. It fails when they are registered already.
func NewStreamMetrics(r prometheus.Registerer) (*StreamMetrics, error) {
	m := &StreamMetrics{
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "atrium_graphql_streams_open", Help: "Subscriptions that are open on this node, by field.",
		}, []string{"field"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_graphql_stream_events_total", Help: "Events that were sent to subscribers, by field.",
		}, []string{"field"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_graphql_streams_ended_total",
			Help: "Subscriptions that ended, by field and reason: client, shutdown, refused (the caller may not go on), overrun (changes were missed), trouble (changes could not be read).",
		}, []string{"field", "reason"}),
	}
	if r == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.open, m.sent, m.ended} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

// streams are those that are open.
type streams struct {
	limits   StreamLimits
	metrics  *StreamMetrics
	stopping chan struct{} // closed when all of them have to end
	reading  chan struct{} // a token for each that reads

	mu      sync.Mutex
	stop    bool
	open    int
	callers map[string]int // by company, and by principal
}

func newStreams(l StreamLimits, m *StreamMetrics) *streams {
	or := func(n *int, usual int) {
		if *n == 0 {
			*n = usual
		}
	}
	or(&l.PerPrincipal, usualStreams.PerPrincipal)
	or(&l.PerCompany, usualStreams.PerCompany)
	or(&l.PerNode, usualStreams.PerNode)
	if m == nil {
		m, _ = NewStreamMetrics(nil) // without a registry it cannot fail
	}
	return &streams{limits: l, metrics: m, stopping: make(chan struct{}), reading: make(chan struct{}, readers), callers: map[string]int{}}
}

// retryStream is when to try again where there are too many streams, in seconds.
const retryStream = 10

// enter counts a stream of the caller until leave is called. Returns rate_limit_exceeded, naming the limit, or unavailable
// when the server is stopping.
func (s *streams) enter(p *principal.Principal) (leave func(), err error) {
	company, caller := p.CompanyID, p.CompanyID+"/"+p.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop {
		return nil, apperr.New(apperr.Unavailable, "The server is stopping. Try again shortly.")
	}
	for _, l := range []struct {
		open, most int
		whose      string
	}{
		{s.callers[caller], s.limits.PerPrincipal, "You may have %d streams open at a time."},
		{s.callers[company], s.limits.PerCompany, "Your company may have %d streams open at a time."},
		{s.open, s.limits.PerNode, "The server may have %d streams open at a time."},
	} {
		if l.open >= l.most {
			e := apperr.New(apperr.RateLimited, l.whose, l.most)
			e.RetryAfter = retryStream
			return nil, e
		}
	}
	s.add(company, caller, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(company, caller, -1)
	}, nil
}

// add counts; the caller holds mu.
func (s *streams) add(company, caller string, n int) {
	s.open += n
	for _, of := range []string{company, caller} {
		if s.callers[of] += n; s.callers[of] == 0 {
			delete(s.callers, of)
		}
	}
}

// end makes all streams end, and lets none begin.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stop {
		s.stop = true
		close(s.stopping)
	}
}

// turn waits until a stream may read.
func (s *streams) turn(ctx context.Context) (done func(), err error) {
	select {
	case s.reading <- struct{}{}:
		return func() { <-s.reading }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *streams) opened(field string) { s.metrics.open.WithLabelValues(field).Inc() }

func (s *streams) closed(field, reason string) {
	s.metrics.open.WithLabelValues(field).Dec()
	s.metrics.ended.WithLabelValues(field, reason).Inc()
}

func (s *streams) sent(field string, n int) {
	s.metrics.sent.WithLabelValues(field).Add(float64(n))
}
