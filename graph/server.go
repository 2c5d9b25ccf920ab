package graph

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/generated"
	"atrium/graph/generated/resolvers"
	"atrium/graph/internal/resolve"
	"atrium/graph/internal/scalar"
	"atrium/internal/gate"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

// Options are what the server is built from.
type Options struct {
	Engine  *op.Engine
	Gate    *gate.Gate // in front of everything
	Log     *slog.Logger
	BaseURL string // the product's own origin, from which calls with a cookie must come

	// Trusted are the documents that callers with a cookie may run, by the hex SHA-256 of their text; nil allows any.
	Trusted Documents

	// Pages are the documents of the product's own pages, in the same form. A page's script that calls with the session's cookie
	// may run only these and Trusted, so that an injected script cannot query anything else. Browsers mark the calls of scripts
	// with the header Sec-Fetch-Site, which scripts cannot omit. nil: pages may run any document.
	Pages Documents

	Feed          *feed.Feed       // what subscriptions watch; nil: the server makes its own
	Streams       StreamLimits     // how many subscriptions may be open
	Seats         *ratelimit.Seats // counts subscriptions over all nodes; nil: this node counts only its own
	StreamMetrics *StreamMetrics   // nil: no metrics
}

// Server answers POST /graphql. Safe for concurrent use.
type Server struct {
	Options
	guarded   http.Handler
	schema    graphql.ExecutableSchema
	documents *documents
	executor  *executor.Executor
	feed      *feed.Feed
	streams   *streams
	timing    timing
}

// New returns the server, which answers at whatever path it is mounted. Close stops what New started, and the feed.
func New(o Options) *Server {
	s := &Server{Options: o, documents: newDocuments(), feed: o.Feed, streams: newStreams(o.Streams, o.Seats, o.StreamMetrics), timing: usualTiming}
	if s.feed == nil {
		s.feed, _ = feed.New(feed.Options{Store: o.Engine.Store, Log: o.Log}) // without metrics it cannot fail
	}
	s.schema = generated.NewExecutableSchema(generated.Config{Schema: Schema(), Resolvers: &resolver{resolvers.Root{Engine: o.Engine}, strings.TrimSuffix(o.BaseURL, "/")}})
	s.executor = executor.New(s.schema)
	s.executor.SetErrorPresenter(s.present)
	s.executor.SetRecoverFunc(s.recovered)
	s.guarded = o.Gate.Guard(gate.Cookies, http.HandlerFunc(s.serve), s.fail)
	return s
}

// Schema returns the schema that is served: without the directive @defer, which gqlparser adds to every schema and this server
// does not support.
func Schema() *ast.Schema {
	s := *generated.NewExecutableSchema(generated.Config{}).Schema()
	s.Directives = maps.Clone(s.Directives)
	delete(s.Directives, "defer")
	return &s
}

// ServeHTTP lets a call through the gate and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	gate.SetRoute(w, "/graphql")
	s.guarded.ServeHTTP(w, r)
}

// serve answers an authenticated caller.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.fail(w, r, apperr.New(apperr.MethodNotAllowed, "Send operations by POST."))
		return
	}
	if err := gate.SameOrigin(r, s.BaseURL); err != nil {
		s.fail(w, r, err)
		return
	}
	call, err := readCall(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(resolve.WithLoaders(r.Context()), gate.MaxCall)
	defer cancel()
	oc, err := s.prepare(ctx, call)
	if err == nil {
		gate.SetOperation(w, rootFields(oc))
		ctx, err = resolve.WithKey(ctx, r, call.raw, oc)
	}
	takes := acceptedBy(r)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case !isSubscription(oc):
		responses, ctx := s.executor.DispatchOperation(scalar.ForAnswer(store.ForCall(ctx)), oc)
		res := responses(ctx)
		if res == nil { // the executor returns nil once the caller has gone
			s.fail(w, r, asError(ctx, ctx.Err()))
			return
		}
		if key := resolve.KeyOf(ctx); key != nil && key.Replayed {
			w.Header().Set("Idempotency-Replayed", "true")
		}
		if takes.events && !takes.json {
			s.answerEvents(w, res)
		} else {
			s.answer(w, takes, res)
		}
	case takes.events:
		s.stream(w, r, call, oc)
	default:
		s.fail(w, r, errNoEvents)
	}
}

// rootFields names the operation type and the root fields of a call: "mutation createRequest".
func rootFields(oc *graphql.OperationContext) string {
	const most = 10
	of := map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}[oc.Operation.Operation]
	var names []string
	for _, f := range graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{of}) {
		names = append(names, f.Name)
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return string(oc.Operation.Operation) + " " + strings.Join(names, " ")
}

// EndStreams ends the open subscriptions, each with an error that asks to open it again, and refuses new ones. Call it before the
// HTTP server is shut down, which waits for open streams.
func (s *Server) EndStreams() { s.streams.end() }

// Close ends the subscriptions and waits until nothing is read for them any more.
func (s *Server) Close() {
	s.EndStreams()
	s.feed.Close()
}
