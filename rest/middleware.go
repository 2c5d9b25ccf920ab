package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"atrium/internal/apperr"
	"atrium/internal/authn"
	"atrium/internal/id"
	"atrium/internal/principal"
)

// ServeHTTP gives the request its id, watches over it, and lets it through the gates in front of the routes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	rid := id.New("rid")
	rec := &recorder{ResponseWriter: w}
	h := w.Header()
	h.Set("X-Request-Id", rid)
	h.Set("X-Content-Type-Options", "nosniff")
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // a panic's value is no chain
			s.log.ErrorContext(r.Context(), "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()), "requestId", rid)
			if rec.status == 0 {
				s.fail(rec, r, fmt.Errorf("panic: %v", v))
			}
		}
		took := time.Since(began)
		s.observe(rec.route, r.Method, rec.status, took)
		if s.log.Enabled(r.Context(), slog.LevelDebug) {
			s.log.DebugContext(r.Context(), "request", "method", r.Method, "route", rec.route, "status", rec.status, "took", took, "requestId", rid)
		}
	}()
	if r.TLS == nil {
		s.fail(rec, r, apperr.New(apperr.HTTPSRequired, "Use HTTPS."))
		return
	}
	if guarded(r.URL.Path) {
		h.Set("Cache-Control", "no-store")
		ctx, err := s.authenticate(rec, r, rid)
		if err != nil {
			s.fail(rec, r, err)
			return
		}
		r = r.WithContext(ctx)
	}
	s.router.ServeHTTP(rec, r)
}

// guarded tells whether the path takes a credential.
func guarded(path string) bool {
	return (path == "/v1" || strings.HasPrefix(path, "/v1/")) && !slices.Contains(openPaths, path)
}

// recorder notes the status that was sent.
type recorder struct {
	http.ResponseWriter
	status int
	route  string // the path's pattern; empty where no route took the request
}

// WriteHeader notes and sends the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends, with status 200 when none was sent before.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b) //nolint:wrapcheck // http.ResponseWriter's contract
}

// Unwrap shows the writer behind to http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// authenticate recognises the caller, counts the call against its limits, and returns a context that carries both.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request, rid string) (context.Context, error) {
	ctx := r.Context()
	ip := remoteIP(r)
	cred, err := s.credential(ctx, r, ip)
	if err != nil {
		if errors.Is(err, authn.ErrRefused) {
			return nil, apperr.Wrap(err, apperr.Unauthorized, "The credential is missing or not valid.")
		}
		return nil, fmt.Errorf("authenticate: %w", err)
	}
	res, err := s.limiter.Take(ctx, cred.RateKey, cred.Limit, s.engine.Store.Clock().Now())
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Unavailable, "The service cannot count calls at the moment. Try again shortly.")
	}
	h := w.Header()
	h["Ratelimit-Policy"], h["Ratelimit"] = []string{res.PolicyHeader()}, []string{res.Header()}
	if !res.Allowed {
		e := apperr.New(apperr.RateLimited, "Too many requests. Try again in %d seconds.", res.RetryAfterSeconds())
		e.RetryAfter = res.RetryAfterSeconds()
		return nil, e
	}
	p := cred.Principal
	p.IP, p.UserAgent, p.RequestID = ip, r.UserAgent(), rid
	return principal.With(ctx, &p), nil
}

// credential reads the one credential of a request. A session cookie is none.
func (s *Server) credential(ctx context.Context, r *http.Request, ip netip.Addr) (*authn.Credential, error) {
	keys, auth := r.Header["X-Api-Key"], r.Header["Authorization"]
	switch {
	case len(keys) == 1 && len(auth) == 0:
		return s.authn.APIKey(ctx, keys[0], ip)
	case len(auth) == 1 && len(keys) == 0:
		scheme, token, _ := strings.Cut(auth[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, fmt.Errorf("%w: unknown scheme", authn.ErrRefused)
		}
		return s.authn.Bearer(ctx, strings.TrimSpace(token))
	default:
		return nil, fmt.Errorf("%w: %d credentials", authn.ErrRefused, len(keys)+len(auth))
	}
}

// remoteIP returns the address at the other end of the connection; the zero Addr when it cannot be read.
func remoteIP(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
