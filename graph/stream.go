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
	"atrium/graph/internal/resolve"
	"atrium/internal/gate"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// timing holds a stream's intervals.
type timing struct {
	keepAlive  time.Duration // between comments that keep the connection alive
	recheck    time.Duration // between checks of the caller's credential, besides those before events
	pause      time.Duration // pause after events, so that changes gather
	retry      time.Duration // pause after events that could not be read
	maxFailure time.Duration // how long reading may fail before the stream ends
	write      time.Duration // how long a client may take to read what was sent
}

var usualTiming = timing{
	keepAlive: 12 * time.Second, recheck: 10 * time.Second, pause: 100 * time.Millisecond, retry: time.Second, maxFailure: 30 * time.Second, write: 10 * time.Second,
}

// maxTogether is how many rows are read in one batch.
const maxTogether = 50

// maxEventCost is the highest cost of the selection of each event, which counts as one call.
const maxEventCost = costPerCall

// stream is one subscription that is being answered.
type stream struct {
	*Server
	r      *http.Request
	out    *eventWriter
	name   string // of the field, for metrics
	caller *principal.Principal
	place  *place

	trouble time.Time // since when events cannot be read; zero while they can

	// Set by the field's resolver, in watch.
	field   *graphql.FieldContext
	changes *feed.Subscription
	events  func(context.Context, []feed.Change) ([]func(), error)
	refusal error
}

type streamKey struct{}

// stream answers a subscription. Until it is open, an error is answered as for any other operation; from then on it sends events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *call, oc *graphql.OperationContext) {
	caller, ok := principal.From(r.Context())
	if !ok {
		s.fail(w, r, apperr.Unauthenticated(nil))
		return
	}
	if len(graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{"Subscription"})) != 1 { // the validator counts one name as one field
		s.fail(w, r, apperr.InvalidField("query", "must select one field of a subscription"))
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
	late := time.AfterFunc(gate.MaxCall, func() { cancel(context.DeadlineExceeded) })
	st := &stream{Server: s, r: r, out: newEventWriter(w, s.timing.write), caller: caller, place: in}
	next, ctx := s.executor.DispatchOperation(context.WithValue(ctx, streamKey{}, st), oc)
	if st.changes != nil {
		defer st.changes.Close()
	}
	if !late.Stop() || st.changes == nil {
		s.fail(w, r, st.openError(ctx, next))
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

// openError returns why a subscription was not opened.
func (st *stream) openError(ctx context.Context, next graphql.ResponseHandler) error {
	if st.refusal != nil {
		return asError(ctx, st.refusal)
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return apperr.New(apperr.Unavailable, "The stream could not be opened in time.")
	}
	if res := next(ctx); res != nil && len(res.Errors) > 0 { // gqlgen's errors, about arguments or fields
		if details, ok := res.Errors[0].Extensions["details"].([]apperr.Detail); ok {
			return apperr.Invalid(details...)
		}
		return apperr.InvalidField("query", "%s", res.Errors[0].Message)
	}
	return apperr.New(apperr.Unavailable, "The stream could not be opened.")
}

// The reasons why streams end, for metrics.
const (
	ended    = "client"   // the client closed it, or could not be written to
	stopped  = "shutdown" // the server stops
	refused  = "refused"  // the caller may not go on
	overrun  = "overrun"  // changes were or may have been missed
	troubled = "trouble"  // events could not be read
)

// serve sends events until the stream ends. Returns the reason.
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
			if _, err = st.reauthenticate(ctx); transient(err) {
				err = nil // events are only sent after a check of their own
			}
		case <-ready:
			ready = nil // until the pause is over
			var wait time.Duration
			wait, err = st.sendPending(ctx, next)
			pause.Reset(wait)
		case <-pause.C:
			ready = st.changes.Ready()
		}
		if err == nil {
			continue
		}
		if reason, over := st.endsStream(err); over {
			return reason
		}
	}
}

// endsStream reports whether an error ends the stream, and the reason. It sends the error to a client that is still connected.
func (st *stream) endsStream(err error) (reason string, endsStream bool) {
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
	if time.Since(st.trouble) < st.timing.maxFailure {
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

// end sends an error as the last event, and returns the reason.
func (st *stream) end(reason string, e *apperr.Error) string {
	errs := gqlerror.List{{Message: e.Message, Extensions: extensions(e, st.caller.RequestID)}}
	var b bytes.Buffer
	writeEvent(&b, &graphql.Response{Errors: errs}, false)
	writeComplete(&b)
	_ = st.out.send(b.Bytes()) // the client may be gone
	return reason
}

// reauthenticate authenticates the caller again. Returns an error when the caller may not go on.
func (st *stream) reauthenticate(ctx context.Context) (*principal.Principal, error) {
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

// sendPending sends the waiting changes that the caller may see now, and returns how long to pause.
func (st *stream) sendPending(ctx context.Context, next graphql.ResponseHandler) (time.Duration, error) {
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
	return st.timing.pause, nil
}

// outbound is a batch of events to send.
type outbound struct {
	text    bytes.Buffer
	events  int // in the text
	changes int // that were taken from the feed, including those that the caller may not see
}

// render returns the waiting changes as events. It puts changes back that could not be read.
func (st *stream) render(ctx context.Context, next graphql.ResponseHandler) (*outbound, error) {
	done, err := st.streams.place(ctx, st.caller.CompanyID)
	if err != nil {
		return nil, errGone
	}
	defer done()
	changes, err := st.changes.Take(maxTogether)
	if err != nil || len(changes) == 0 {
		return &outbound{}, err
	}
	ctx, cancel := context.WithTimeout(resolve.WithLoaders(graphql.WithFieldContext(ctx, st.field)), gate.MaxCall)
	defer cancel()
	caller, err := st.reauthenticate(ctx)
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
