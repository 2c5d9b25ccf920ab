package graph

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/graph/internal/limit"
	"atrium/internal/apperr"
	"atrium/internal/feed"
	"atrium/internal/gate"
	"atrium/internal/principal"
)

// timing is how a stream goes about its time.
type timing struct {
	keepAlive time.Duration // between signs of life
	recheck   time.Duration // between looks at the caller's credential, besides those ahead of events
	calm      time.Duration // after events, for changes to gather
	retry     time.Duration // after events that could not be read
	trouble   time.Duration // for which that may go on
	write     time.Duration // that a client may take to read what was sent
}

var usualTiming = timing{
	keepAlive: 12 * time.Second, recheck: 10 * time.Second, calm: 100 * time.Millisecond, retry: time.Second, trouble: 30 * time.Second, write: 10 * time.Second,
}

// maxTogether is how many rows are read together.
const maxTogether = 50

// maxEventCost bounds what is selected of every event: it is what counts as one call.
const maxEventCost = costPerCall

// stream is one subscription operation that is being answered.
type stream struct {
	*Server
	r      *http.Request
	out    *eventWriter
	name   string // of the field, for metrics
	caller *principal.Principal
	place  *place

	trouble time.Time // since when events cannot be read; zero while they can

	// What the field's resolver sets, by watch.
	field   *graphql.FieldContext
	changes *feed.Subscription
	events  func(context.Context, []feed.Change) ([]func(), error)
	refusal error
}

type streamKey struct{}

// stream answers a subscription: by an error as for any other operation until it is open, by events from then on.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *call, oc *graphql.OperationContext) {
	caller, ok := principal.From(r.Context())
	if !ok {
		s.fail(w, r, apperr.Unauthenticated(nil))
		return
	}
	if _, err := limit.Measure(s.schema.Schema(), oc.Doc, oc.Operation, c.Variables, maxEventCost); err != nil {
		s.fail(w, r, apperr.New(apperr.QueryTooComplex, "What is selected of each event may cost %d.", maxEventCost))
		return
	}
	in, err := s.streams.enter(r.Context(), caller)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer in.leave(context.WithoutCancel(r.Context()))
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	late := time.AfterFunc(maxTime, func() { cancel(context.DeadlineExceeded) })
	st := &stream{Server: s, r: r, out: newEventWriter(w, s.timing.write), caller: caller, place: in}
	next, ctx := s.executor.DispatchOperation(context.WithValue(ctx, streamKey{}, st), oc)
	if st.changes != nil {
		defer st.changes.Close()
	}
	if !late.Stop() || st.changes == nil {
		s.fail(w, r, st.whyNot(ctx, next))
		return
	}
	st.name = st.field.Field.Name
	gate.SetRoute(w, "/graphql (stream)")
	s.streams.opened(st.name)
	reason := ended
	if err := st.out.open(); err == nil {
		reason = st.serve(ctx, next)
	}
	s.streams.closed(st.name, reason)
}

// whyNot returns why a subscription was not opened.
func (st *stream) whyNot(ctx context.Context, next graphql.ResponseHandler) error {
	if st.refusal != nil {
		return asError(ctx, st.refusal)
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return apperr.New(apperr.Unavailable, "The stream could not be opened in time.")
	}
	if res := next(ctx); res != nil && len(res.Errors) > 0 { // of gqlgen's, about arguments or fields
		if details, ok := res.Errors[0].Extensions["details"].([]apperr.Detail); ok {
			return apperr.Invalid(details...)
		}
		return apperr.InvalidField("query", "%s", res.Errors[0].Message)
	}
	return apperr.New(apperr.Unavailable, "The stream could not be opened.")
}

// Why streams end, for metrics.
const (
	ended    = "client"   // the client closed it, or could not be written to
	stopped  = "shutdown" // the server stops
	refused  = "refused"  // the caller may not go on
	overrun  = "overrun"  // changes were or may have been missed
	troubled = "trouble"  // events could not be read
)

// serve sends events until either side ends the stream. Returns why it ended.
func (st *stream) serve(ctx context.Context, next graphql.ResponseHandler) string {
	alive, again := time.NewTicker(st.timing.keepAlive), time.NewTicker(st.timing.recheck)
	defer alive.Stop()
	defer again.Stop()
	ready, pause := st.changes.Ready(), time.NewTimer(0)
	defer pause.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ended
		case <-st.streams.stopping:
			return st.end(stopped, apperr.New(apperr.Unavailable, "The server is stopping. Open the stream again."))
		case <-alive.C:
			if err := st.out.comment(); err != nil {
				return ended
			}
			st.place.renew(ctx)
		case <-again.C:
			if _, err = st.again(ctx); transient(err) {
				err = nil // nothing is sent without it
			}
		case <-ready:
			ready = nil // until the pause is over
			var wait time.Duration
			wait, err = st.tell(ctx, next)
			pause.Reset(wait)
		case <-pause.C:
			ready = st.changes.Ready()
		}
		if err == nil {
			continue
		}
		if reason, over := st.over(err); over {
			return reason
		}
	}
}

// over reports whether an error ends the stream, and why; it has been sent then.
func (st *stream) over(err error) (reason string, over bool) {
	switch {
	case errors.Is(err, errGone):
		return ended, true
	case errors.Is(err, feed.ErrClosed):
		return st.end(stopped, apperr.New(apperr.Unavailable, "The server is stopping. Open the stream again.")), true
	case errors.Is(err, feed.ErrBehind), errors.Is(err, feed.ErrLost):
		return st.end(overrun, apperr.Wrap(err, apperr.Unavailable, "Changes were missed. Read anew what is shown, and open the stream again.")), true
	case !transient(err):
		return st.end(refused, apperr.From(err)), true
	}
	if st.trouble.IsZero() {
		st.trouble = time.Now()
	}
	if time.Since(st.trouble) < st.timing.trouble {
		return "", false // it is tried again
	}
	st.Log.ErrorContext(st.r.Context(), "a stream was given up", "error", err, "requestId", st.caller.RequestID)
	return st.end(troubled, apperr.Wrap(err, apperr.Unavailable, "Changes cannot be read. Read anew what is shown, and open the stream again.")), true
}

// transient reports whether an error may go away by itself.
func transient(err error) bool {
	if err == nil || errors.Is(err, errGone) || errors.Is(err, feed.ErrBehind) || errors.Is(err, feed.ErrLost) || errors.Is(err, feed.ErrClosed) {
		return false
	}
	code := apperr.CodeOf(err)
	return code == apperr.Internal || code == apperr.Unavailable
}

// end sends an error as the last event.
func (st *stream) end(reason string, e *apperr.Error) string {
	errs := gqlerror.List{{Message: e.Message, Extensions: extensions(e, st.caller.RequestID)}}
	var b bytes.Buffer
	writeEvent(&b, &graphql.Response{Errors: errs}, false)
	writeComplete(&b)
	_ = st.out.send(b.Bytes()) // a client that has gone does not have to know
	return reason
}

// again returns the caller as it is now, and an error when it may not go on.
func (st *stream) again(ctx context.Context) (*principal.Principal, error) {
	now, err := st.Gate.Again(ctx, st.out.w, st.r)
	if err != nil {
		return nil, err
	}
	if was := st.caller; now.CompanyID != was.CompanyID || now.ID != was.ID || now.Type != was.Type || now.Role != was.Role || now.Scopes != was.Scopes {
		return nil, apperr.New(apperr.Forbidden, "Your rights have changed. Open the stream again.")
	}
	st.caller = now
	return now, nil
}

// tell sends what is waiting, as far as the caller may see it now, and returns how long to pause.
func (st *stream) tell(ctx context.Context, next graphql.ResponseHandler) (time.Duration, error) {
	b, err := st.render(ctx, next)
	if err != nil {
		return st.timing.retry, err
	}
	st.trouble = time.Time{}
	if b.events > 0 {
		if err := st.out.send(b.text.Bytes()); err != nil {
			return 0, err
		}
		st.streams.sent(st.name, b.events)
	}
	if b.changes == maxTogether {
		return 0, nil // more are waiting
	}
	return st.timing.calm, nil
}

// outbound is what is sent at once.
type outbound struct {
	text    bytes.Buffer
	events  int // in the text
	changes int // that they were made of, those that the caller does not see included
}

// render returns what is waiting as events. What could not be read waits again.
func (st *stream) render(ctx context.Context, next graphql.ResponseHandler) (*outbound, error) {
	done, err := st.streams.turn(ctx)
	if err != nil {
		return nil, errGone
	}
	defer done()
	changes, err := st.changes.Take(maxTogether)
	if err != nil || len(changes) == 0 {
		return &outbound{}, err
	}
	ctx, cancel := context.WithTimeout(withLoaders(graphql.WithFieldContext(ctx, st.field)), maxTime)
	defer cancel()
	caller, err := st.again(ctx)
	var events []func()
	if err == nil {
		ctx = principal.With(ctx, caller)
		events, err = st.events(ctx, changes)
	}
	if err != nil {
		st.changes.PutBack(changes)
		return nil, err
	}
	b := &outbound{events: len(events), changes: len(changes)}
	for _, event := range events {
		event()
		if res := next(ctx); res != nil {
			writeEvent(&b.text, res, true)
		}
	}
	return b, nil
}

// isSubscription reports whether an operation is answered by a stream.
func isSubscription(oc *graphql.OperationContext) bool {
	return oc.Operation.Operation == ast.Subscription
}
