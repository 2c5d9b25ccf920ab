package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/share"
)

// StreamLimits are how many streams may be open; 0 means the default. The limits of a principal and of a company are counted over
// all nodes if Options.Seats is set.
type StreamLimits struct {
	PerPrincipal int // of a user or service account, whatever its credentials
	PerCompany   int
	PerNode      int
}

// defaultStreamLimits are the default limits.
var defaultStreamLimits = StreamLimits{PerPrincipal: 16, PerCompany: 500, PerNode: 5_000}

// readers is how many streams read at the same time, so that the streams of a busy company leave database connections to other
// calls, and readersEach how many of one company. The changes of streams that wait gather meanwhile.
const (
	readers     = 8
	readersEach = 4
)

// StreamMetrics are the Prometheus metrics of streams, by field.
type StreamMetrics struct {
	open  *prometheus.GaugeVec
	sent  *prometheus.CounterVec
	ended *prometheus.CounterVec // by reason, too
}

// NewStreamMetrics registers the metrics, unless r is nil. It fails when they are registered already.
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

// streams counts the open streams.
type streams struct {
	limits   StreamLimits
	seats    *ratelimit.Seats // nil: this node counts only its own
	metrics  *StreamMetrics
	stopping chan struct{} // closed when all streams must end
	reading  *share.Places // of streams that read

	mu      sync.Mutex
	stop    bool
	open    int
	entered uint64         // streams so far; a stream's number identifies its seat
	callers map[string]int // open streams, by the name of a place
}

func newStreams(l StreamLimits, seats *ratelimit.Seats, m *StreamMetrics) *streams {
	l = StreamLimits{
		PerPrincipal: cmp.Or(l.PerPrincipal, defaultStreamLimits.PerPrincipal),
		PerCompany:   cmp.Or(l.PerCompany, defaultStreamLimits.PerCompany),
		PerNode:      cmp.Or(l.PerNode, defaultStreamLimits.PerNode),
	}
	if m == nil {
		m, _ = NewStreamMetrics(nil) // without a registry it cannot fail
	}
	return &streams{limits: l, seats: seats, metrics: m, stopping: make(chan struct{}), reading: share.New(readers, readersEach), callers: map[string]int{}}
}

// retryStream is the Retry-After of a limit that is reached, in seconds.
const retryStream = 10

// place is a stream's entry in the counters.
type place struct {
	*streams
	number uint64 // identifies the stream on this node
	group  string // the company
	among  []ratelimit.Place
}

// enter counts a stream of the caller until leave is called. Returns rate_limit_exceeded, naming the limit, or unavailable when
// the server is stopping.
func (s *streams) enter(ctx context.Context, p *principal.Principal) (*place, error) {
	in := &place{streams: s, group: p.CompanyID, among: []ratelimit.Place{
		{Name: p.CompanyID + "/" + p.ID, Most: s.limits.PerPrincipal}, {Name: p.CompanyID, Most: s.limits.PerCompany},
	}}
	full, err := in.enterNode()
	if err != nil {
		return nil, err
	}
	if full < 0 {
		if full = in.renew(ctx); full >= 0 {
			in.leaveNode()
		}
	}
	switch full {
	case 0:
		return nil, tooManyStreams("You may have %d streams open at a time.", s.limits.PerPrincipal)
	case 1:
		return nil, tooManyStreams("Your company may have %d streams open at a time.", s.limits.PerCompany)
	}
	return in, nil
}

func tooManyStreams(whose string, most int) error {
	e := apperr.New(apperr.RateLimited, whose, most)
	e.RetryAfter = retryStream
	return e
}

// enterNode counts a stream on this node. Returns the index in among of the limit that is reached, or -1.
func (in *place) enterNode() (full int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.stop {
		return 0, apperr.New(apperr.Unavailable, "The server is stopping. Try again shortly.")
	}
	for i, p := range in.among {
		if in.callers[p.Name] >= p.Most {
			return i, nil
		}
	}
	if in.open >= in.limits.PerNode {
		return 0, tooManyStreams("The server may have %d streams open at a time.", in.limits.PerNode)
	}
	in.entered++
	in.number = in.entered
	in.count(1)
	return -1, nil
}

func (in *place) leaveNode() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.count(-1)
}

// count adds n to the counters; the caller holds mu.
func (in *place) count(n int) {
	in.open += n
	for _, p := range in.among {
		if in.callers[p.Name] += n; in.callers[p.Name] == 0 {
			delete(in.callers, p.Name)
		}
	}
}

// leave removes the stream from the counters.
func (in *place) leave(ctx context.Context) {
	in.leaveNode()
	if in.seats != nil {
		in.seats.Leave(ctx, in.group, in.number, in.among...)
	}
}

// renew takes the stream's seats in the counters of all nodes, or extends them. Returns the index in among of the limit that is
// reached, or -1.
func (in *place) renew(ctx context.Context) (full int) {
	if in.seats == nil {
		return -1
	}
	full, err := in.seats.Take(ctx, in.group, in.number, in.among...)
	if err != nil {
		return -1 // the caller has gone
	}
	return full
}

// end ends all streams and refuses new ones.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stop {
		s.stop = true
		close(s.stopping)
	}
}

// place waits until a stream of the company may read.
func (s *streams) place(ctx context.Context, companyID string) (done func(), err error) {
	done, err = s.reading.Take(ctx, companyID)
	if err != nil {
		return nil, fmt.Errorf("wait to read for a stream: %w", err)
	}
	return done, nil
}

func (s *streams) opened(field string) { s.metrics.open.WithLabelValues(field).Inc() }

func (s *streams) closed(field, reason string) {
	s.metrics.open.WithLabelValues(field).Dec()
	s.metrics.ended.WithLabelValues(field, reason).Inc()
}

func (s *streams) sent(field string, n int) {
	s.metrics.sent.WithLabelValues(field).Add(float64(n))
}
