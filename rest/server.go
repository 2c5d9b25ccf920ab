package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"atrium/internal/desk/attachment"
	"atrium/internal/gate"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
)

// Options are what the server is built from.
type Options struct {
	Engine  *op.Engine
	Gate    *gate.Gate // in front of /v1
	Log     *slog.Logger
	BaseURL string // for the OpenAPI document
	AuthURL string // of the identity provider, for the OpenAPI document; empty when tokens come from another issuer

	Files *attachment.Depot // nil: a server without the bytes of files
	Mail  *mailbox.Post     // nil: a server that no mail provider calls

	Outside inbound.Outside // for what Amazon SNS asks of inbound webhooks; nil: its calls are unavailable

	InboundPatience time.Duration // how long reading the body of an inbound webhook's call may take; 20 s when 0
}

// Server answers /v1 and serves the documents that describe the API: /openapi.json, /asyncapi.json and /docs. Safe for concurrent
// use.
type Server struct {
	engine   *op.Engine
	log      *slog.Logger
	router   chi.Router
	guarded  http.Handler // the router behind the gate
	contents http.Handler // likewise, for what pages ask for with a session cookie: bytes of files, and tables
	baseURL  string
	methods  []string // all methods that routes take
}

// New returns the server. Its documents are rendered when they are first asked for (60 ms of the processor), not at each start. Returns
// an error when the calls of inbound webhooks cannot be taken.
func New(o Options) (*Server, error) {
	s := &Server{engine: o.Engine, log: o.Log, router: chi.NewRouter(), baseURL: o.BaseURL}
	s.guarded = o.Gate.Guard(gate.Tokens, s.router, s.fail) // session cookies are not accepted here
	s.contents = o.Gate.Guard(gate.Cookies, s.router, s.fail)
	for _, rt := range routes {
		s.handle(rt.method, rt)
		if rt.method == http.MethodGet {
			s.handle(http.MethodHead, rt)
		}
	}
	if o.Files != nil {
		s.handleContent(o.Files)
	}
	if o.Mail != nil {
		s.handleMailHook(o.Gate, o.Mail)
	}
	s.handleTables()
	if err := s.handleInbound(o.Gate, o.Outside, cmp.Or(o.InboundPatience, inboundPatience)); err != nil {
		return nil, fmt.Errorf("inbound webhooks: %w", err)
	}
	const ofJSON, page = "application/json", "text/html; charset=utf-8"
	openAPI := s.document(ofJSON, func() ([]byte, error) { return newDocument(o.BaseURL, o.AuthURL).json() })
	for path, h := range map[string]http.HandlerFunc{
		"/openapi.json": openAPI, "/v1/openapi.json": openAPI,
		"/asyncapi.json": s.document(ofJSON, func() ([]byte, error) { return webhook.AsyncAPI(o.BaseURL) }),
		"/docs":          s.document(page, func() ([]byte, error) { return newDocument(o.BaseURL, o.AuthURL).reference() }),
	} {
		s.router.Get(path, h)
		s.router.Head(path, h)
	}
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	return s, nil
}

// ServeHTTP sends guarded paths through the gate and answers the others directly.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isContent(r.URL.Path) || r.URL.Path == tablePath || r.URL.Path == reportTablePath {
		s.contents.ServeHTTP(w, r)
		return
	}
	if guarded(r.URL.Path) {
		s.guarded.ServeHTTP(w, r)
		return
	}
	s.router.ServeHTTP(w, r)
}

// guarded reports whether the path requires a credential and counts against the rate limits.
func guarded(path string) bool {
	return (path == "/v1" || strings.HasPrefix(path, "/v1/")) && path != "/v1/openapi.json" && !isInbound(path) && !isMailHook(path)
}

// handle registers a row for a method.
func (s *Server) handle(method string, rt route) {
	s.router.MethodFunc(method, "/v1"+rt.path, func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, "/v1"+rt.path)
		gate.SetOperation(w, rt.op.Name)
		s.answer(rt, w, r)
	})
	if !slices.Contains(s.methods, method) {
		s.methods = append(s.methods, method)
	}
}

// answer calls a row's operation within gate.MaxCall.
func (s *Server) answer(rt route, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), gate.MaxCall)
	defer cancel()
	r = r.WithContext(ctx)
	answer, err := rt.call(ctx, s.engine, overHTTP{&rt, w, r})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, r, answer)
}

// document answers with what render returns the first time.
func (s *Server) document(contentType string, render func() ([]byte, error)) http.HandlerFunc {
	once := sync.OnceValues(render)
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := once()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(body)
	}
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) { gate.Fail(s.log, w, r, err) }

// notFound answers 404 for an unknown path.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, apperr.New(apperr.NotFound, "There is nothing at this path."))
}

// methodNotAllowed answers 405 with the methods that the path takes.
func (s *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = r.URL.RawPath // as chi routes it
	}
	var allow []string
	for _, m := range s.methods {
		if s.router.Match(chi.NewRouteContext(), m, path) {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 { // chi calls this for a method that it does not know, even if no route has the path
		s.notFound(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.fail(w, r, apperr.New(apperr.MethodNotAllowed, "The path does not take this method."))
}
