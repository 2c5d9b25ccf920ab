package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
)

// Accept says which credentials a door accepts besides API keys and bearer tokens.
type Accept int

// What doors accept.
const (
	Tokens  Accept = iota // only API keys and bearer tokens, no cookies
	Cookies               // also the web session's cookie, if the call has no other credential
	Bearers               // also API keys as bearer tokens, for programs that know no other header
)

// Guard passes calls to next if they carry exactly one valid credential and stay within its limits; next finds the principal in
// the context. All others go to fail: unauthorized, rate_limit_exceeded or unavailable. Pages of clients' origins may read
// either answer (CrossOrigin); a browser's preflight carries no credential and counts against no limit.
func (g *Gate) Guard(accept Accept, next http.Handler, fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return CrossOrigin(g.Origins, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		ctx, err := g.admit(w, r, accept)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer leave(ctx)
		next.ServeHTTP(w, r.WithContext(ctx))
	}))
}

// admit recognises the caller, counts the call, and returns a context with the principal and the credential.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, accept Accept) (context.Context, error) {
	ctx := r.Context()
	ip := RemoteIP(r)
	cred, err := g.credential(ctx, r, ip, accept)
	if err != nil {
		return nil, unauthorized(err)
	}
	setCaller(w, cred)
	if err := g.take(ctx, w, cred, 1); err != nil {
		return nil, err
	}
	p := cred.Principal
	p.IP, p.UserAgent, p.RequestID = ip, r.UserAgent(), RequestID(w)
	acting, err := g.acting(ctx, &p, r)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, admittedKey{}, &admitted{gate: g, cred: cred, w: w}) // for Charge, Limit and ReadBody
	return principal.With(ctx, acting), nil
}

// MaxCall is how long a call may take at any API. A list of a large company with a rare filter takes seconds at most; without a limit, a
// few callers could hold all connections that read, as while a table is locked.
const MaxCall = 10 * time.Second

// RunHeader names the agent's run that a call belongs to.
const RunHeader = "Agent-Run"

// Agents determines the principal of an agent's call.
type Agents interface {
	// As returns the principal behind an agent's key with its current rights, within the run if one is named. Returns forbidden
	// for another agent's run. What a run may do in its state, the operations decide.
	As(ctx context.Context, p *principal.Principal, run string) (*principal.Principal, error)
}

// acting returns the principal under which the caller acts.
func (g *Gate) acting(ctx context.Context, p *principal.Principal, r *http.Request) (*principal.Principal, error) {
	runs := r.Header.Values(RunHeader)
	switch {
	case p.Type != principal.TypeAgent && len(runs) == 0:
		return p, nil
	case p.Type != principal.TypeAgent:
		return nil, apperr.New(apperr.Forbidden, "Agent-Run takes an agent's own key.")
	case len(runs) > 1:
		return nil, apperr.InvalidField(RunHeader, "must be sent once")
	case g.Agents == nil:
		return nil, apperr.Unauthenticated(errors.New("gate: nobody knows agents here"))
	}
	return g.Agents.As(ctx, p, strings.Join(runs, ""))
}

// Faults in how a credential was sent. They do not reveal whether it is valid.
var (
	errNone    = fmt.Errorf("%w: no credential", authn.ErrRefused)
	errSeveral = fmt.Errorf("%w: several credentials", authn.ErrRefused)
	errMisfit  = fmt.Errorf("%w: an API key sent as a bearer token", authn.ErrRefused)
)

// unauthorized turns the refusal of a credential into the caller's error; other errors are internal.
func unauthorized(err error) error {
	switch {
	case !errors.Is(err, authn.ErrRefused):
		return fmt.Errorf("authenticate: %w", err)
	case errors.Is(err, errNone):
		return apperr.Wrap(err, apperr.Unauthorized, "Send an API key in X-Api-Key, or an access token in Authorization: Bearer.")
	case errors.Is(err, errSeveral):
		return apperr.Wrap(err, apperr.Unauthorized, "Send one credential, not several.")
	case errors.Is(err, errMisfit):
		return apperr.Wrap(err, apperr.Unauthorized, "Send API keys in X-Api-Key, not as bearer tokens.")
	case errors.Is(err, apikey.ErrMalformed):
		return apperr.Wrap(err, apperr.Unauthorized, "This is no API key: it was cut short or mistyped.")
	}
	return apperr.Unauthenticated(err)
}

// take counts n calls against the credential's limits and reports the remainder in the answer's headers.
func (g *Gate) take(ctx context.Context, w http.ResponseWriter, cred *authn.Credential, n int) error {
	res, err := g.Limiter.TakeMany(ctx, cred.RateKey, cred.Limit, g.Clock.Now(), n)
	if err != nil {
		return apperr.Wrap(err, apperr.Unavailable, "The service cannot count calls at the moment. Try again shortly.")
	}
	tell(w, res)
	if !res.Allowed {
		e := apperr.New(apperr.RateLimited, "Too many requests. Try again in %d seconds.", res.RetryAfterSeconds())
		e.RetryAfter = res.RetryAfterSeconds()
		return e
	}
	return nil
}

// tell reports what is left of a limit in the answer's headers.
func tell(w http.ResponseWriter, res ratelimit.Result) {
	h := w.Header()
	h["Ratelimit-Policy"], h["Ratelimit"] = []string{res.PolicyHeader()}, []string{res.Header()}
}

type admittedKey struct{}

// admitted is a call that has passed a Guard.
type admitted struct {
	gate  *Gate
	cred  *authn.Credential
	w     http.ResponseWriter
	leave func() // gives back the place of a large body; nil if the call has none
}

// takeBytes counts a body of n bytes against the limits of the caller's company. Returns rate_limit_exceeded or unavailable.
func (a *admitted) takeBytes(w http.ResponseWriter, r *http.Request, n int64) error {
	limit := func(context.Context) (ratelimit.Limit, error) { return a.cred.Limit, nil }
	res, err := a.gate.bytes.Take(r.Context(), a.cred.Principal.CompanyID, int(n), a.gate.Clock.Now(), limit)
	if err == nil && !res.Allowed {
		tell(w, res)
	}
	return BytesTaken(res, err)
}

// BytesTaken returns the error of a body that was counted against its company's limits: rate_limit_exceeded, unavailable or nil.
func BytesTaken(res ratelimit.Result, err error) error {
	if err != nil {
		return apperr.Wrap(err, apperr.Unavailable, "The service cannot count bytes at the moment. Try again shortly.")
	}
	if res.Allowed {
		return nil
	}
	e := apperr.New(apperr.RateLimited, "The company sends more bytes than its plan allows. Try again in %d seconds.", res.RetryAfterSeconds())
	e.RetryAfter = res.RetryAfterSeconds()
	return e
}

// Limit returns the caller's limits, behind a Guard; false for a call that did not pass one.
func Limit(ctx context.Context) (ratelimit.Limit, bool) {
	a, ok := ctx.Value(admittedKey{}).(*admitted)
	if !ok {
		return ratelimit.Limit{}, false
	}
	return a.cred.Limit, true
}

// Charge counts further calls, behind a Guard, for a call that costs as much as several. If a limit is too small for the most
// expensive call, an unused limit lets it pass. Returns rate_limit_exceeded or unavailable.
func Charge(ctx context.Context, calls int) error {
	a, ok := ctx.Value(admittedKey{}).(*admitted)
	if !ok {
		return errors.New("gate: a call that did not come through the guard cannot be charged")
	}
	if calls = min(calls, a.cred.Limit.PerMinute-1, a.cred.Limit.PerDay-1); calls < 1 {
		return nil
	}
	return a.gate.take(ctx, a.w, a.cred, calls)
}

// credential reads the one credential of a request.
func (g *Gate) credential(ctx context.Context, r *http.Request, ip netip.Addr, accept Accept) (*authn.Credential, error) {
	keys, auth := r.Header["X-Api-Key"], r.Header["Authorization"]
	switch {
	case len(keys) == 1 && len(auth) == 0:
		return g.Authn.APIKey(ctx, keys[0], ip)
	case len(auth) == 1 && len(keys) == 0:
		scheme, token, _ := strings.Cut(auth[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, fmt.Errorf("%w: unknown scheme", authn.ErrRefused)
		}
		token = strings.TrimSpace(token)
		if strings.HasPrefix(token, apikey.LivePrefix) || strings.HasPrefix(token, apikey.TestPrefix) {
			if accept == Bearers {
				return g.Authn.APIKey(ctx, token, ip)
			}
			return nil, errMisfit
		}
		return g.Authn.Bearer(ctx, token)
	case len(keys)+len(auth) > 0:
		return nil, errSeveral
	case accept == Cookies:
		return g.session(ctx, r, ip)
	}
	return nil, errNone
}

// session reads the web session's cookie. Two cookies mean that somebody has injected one, so neither is accepted.
func (g *Gate) session(ctx context.Context, r *http.Request, ip netip.Addr) (*authn.Credential, error) {
	switch cookies := r.CookiesNamed(authn.SessionCookie); len(cookies) {
	case 0:
		return nil, errNone
	case 1:
		return g.Authn.Session(ctx, cookies[0].Value, ip)
	}
	return nil, errSeveral
}
