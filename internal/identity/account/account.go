package account

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atrium/ent"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/throttle"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

//go:embed pages/*.html
var templates embed.FS

// The addresses of the pages.
const (
	pathForgot       = "/forgot"
	pathReset        = "/reset"
	pathInvitation   = "/invitation"
	pathAccept       = "/account/invitation"
	pathAccount      = "/account"
	pathPassword     = "/account/password"
	pathEmail        = "/account/email"
	pathConfirmEmail = "/account/email/confirm"
	pathSignUp       = "/signup"
	pathConfirm      = "/signup/confirm"
	pathUnsubscribe  = "/notifications/unsubscribe"
	pathRate         = "/rate"
)

// Paths are the addresses that cmd passes, with everything below them, to the Server's Handler. Package signin serves
// /account/mfa.
var Paths = []string{pathForgot, pathReset, pathInvitation, pathSignUp, pathAccount, pathUnsubscribe, pathRate}

// Options are a Server's dependencies.
type Options struct {
	Engine  *op.Engine
	SignIn  *signin.Server
	Hasher  *password.Hasher
	Rules   *password.Rules // nil for the rules without the operator's file
	Mails   *Mails
	AuthURL string // origin of the hosted pages
	BaseURL string // of the web application, whose /login starts a sign-in
	SignUp  bool   // anybody may open a company
	Log     *slog.Logger
}

// Server serves the pages. Safe for concurrent use.
type Server struct {
	*pages.Layout
	store    *store.Store
	signIn   *signin.Server
	hasher   *password.Hasher
	rules    *password.Rules
	mails    *Mails
	throttle *throttle.Throttle
	engine   *op.Engine
	baseURL  string
	signUp   bool
}

// New returns the pages' server. It reads and writes nothing before the first request.
func New(o Options) (*Server, error) {
	if o.Engine == nil || o.SignIn == nil || o.Hasher == nil || o.Mails == nil {
		return nil, errors.New("account: engine, sign-in pages, hasher and mails are needed")
	}
	own, err := fs.Sub(templates, "pages")
	if err != nil {
		return nil, fmt.Errorf("account: find the pages: %w", err)
	}
	layout, err := pages.NewLayout(pages.LayoutOptions{AuthURL: o.AuthURL, Pages: own, Log: o.Log, Reader: o.SignIn.SignIns().Reader})
	if err != nil {
		return nil, err
	}
	return &Server{
		Layout: layout, store: o.Engine.Store, signIn: o.SignIn, hasher: o.Hasher, rules: o.Rules, mails: o.Mails, throttle: throttle.New(o.Engine.Store),
		baseURL: strings.TrimRight(o.BaseURL, "/"), signUp: o.SignUp, engine: o.Engine,
	}, nil
}

// Handler serves Paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	routes := map[string]http.HandlerFunc{
		"GET " + pathForgot: s.showForgot, "POST " + pathForgot: s.postForgot,
		"GET " + pathReset: secret(s.showReset), "POST " + pathReset: secret(s.postReset),
		"GET " + pathInvitation: secret(s.showInvitation), "POST " + pathInvitation: secret(s.postInvitation),
		"GET " + pathAccept: secret(s.showAccept), "POST " + pathAccept: secret(s.postAccept),
		"GET " + pathAccount:  s.showAccount,
		"GET " + pathPassword: s.showPassword, "POST " + pathPassword: s.postPassword,
		"GET " + pathEmail: s.showEmail, "POST " + pathEmail: s.postEmail,
		"GET " + pathUnsubscribe: secret(s.showUnsubscribe),
		"GET " + pathRate:        secret(s.showRate), "POST " + pathRate: secret(s.postRate),
		"GET " + pathConfirmEmail: secret(s.showConfirmEmail), "POST " + pathConfirmEmail: secret(s.postConfirmEmail),
	}
	if s.signUp {
		routes["GET "+pathSignUp], routes["POST "+pathSignUp] = s.showSignUp, s.postSignUp
		routes["GET "+pathConfirm], routes["POST "+pathConfirm] = secret(s.showConfirm), secret(s.postConfirm)
	}
	for pattern, h := range routes {
		mux.HandleFunc(pattern, h)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Message(w, r, http.StatusNotFound, locale.Say("There is no such page"), locale.Say("The address is not one of ours, or it takes a form that was not sent."), s.home())
	})
	guarded := http.NewServeMux()
	guarded.Handle("/", s.Guard(mux))
	guarded.HandleFunc("POST "+pathUnsubscribe, secret(s.postUnsubscribe))
	return guarded
}

// secret keeps the browser from sending a page's address, which contains a link's token, to other sites.
func secret(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { next(unreferred{w}, r) }
}

// unreferred sets the referrer policy after the layout has set its own.
type unreferred struct{ http.ResponseWriter }

// WriteHeader starts the answer.
func (u unreferred) WriteHeader(status int) {
	u.Header().Set("Referrer-Policy", "no-referrer")
	u.ResponseWriter.WriteHeader(status)
}

// home links to the web application.
func (s *Server) home() pages.Link {
	return pages.Link{Text: locale.Say("Go to Atrium"), To: s.baseURL + "/login"}
}

// system returns a context that can access rows of no company, and those of all companies of an account.
func (s *Server) system(ctx context.Context) context.Context { return system(ctx, s.store) }

func system(ctx context.Context, s *store.Store) context.Context {
	return principal.System(clock.With(ctx, s.Clock()), "accounts and mailed links belong to no company, and an account's people to several")
}

// write runs fn in one transaction that can access all companies. All nodes drop their cached callers after it.
func (s *Server) write(ctx context.Context, fn func(context.Context, *store.Tx) error) error {
	return s.store.Write(s.system(ctx), func(ctx context.Context, tx *store.Tx) error {
		tx.AuthorityChanged()
		return fn(ctx, tx)
	})
}

func (s *Server) now() time.Time { return s.store.Clock().Now() }

// account reads an account.
func (s *Server) account(ctx context.Context, id string) (*ent.Account, error) {
	acc, err := s.store.Reader().Account.Get(s.system(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("read the account: %w", err)
	}
	return acc, nil
}

// signedIn returns the person who is signed in with a proof recent enough to change the account. It sends everybody
// else to the sign-in, from which they come back, and returns nil.
func (s *Server) signedIn(w http.ResponseWriter, r *http.Request, back string) (*ent.SignIn, *ent.Account) {
	row, err := s.signIn.SignIns().Current(r.Context(), r)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil
	}
	if !s.signIn.SignIns().Fresh(row) {
		http.Redirect(w, r, signin.PathSignIn+"?return="+url.QueryEscape(back), http.StatusSeeOther)
		return nil, nil
	}
	acc, err := s.account(r.Context(), row.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil
	}
	return row, acc
}

// The API's messages that the pages show: of package password's rules, and of a company that cannot be made.
var _ = []locale.Text{
	locale.Say("Must have at least 8 characters."), locale.Say("Must have at most 256 characters."), locale.Say("Must be valid UTF-8."),
	locale.Say("Must be more than a repetition or a sequence."),
	locale.Say("Must be more than your name, e-mail address, company or the product's name."),
	locale.Say("Is known from breaches or too common; choose another one."),
	locale.Say("Another company was created at the same moment. Try again."),
	locale.Say("The address has an account that came with an imported company. Its owner asks for a new password first, at /forgot."),
}

// fault returns the faults of a validation error by field; false for every other error.
func fault(err error) (map[string]locale.Text, bool) {
	e, ok := errors.AsType[*apperr.Error](err)
	if !ok || e.Code != apperr.Validation {
		return nil, false
	}
	faults := map[string]locale.Text{}
	for _, d := range e.Details {
		faults[d.Field] = locale.Known(d.Message)
	}
	return faults, true
}

// address returns a typed e-mail address as accounts store it; empty when no mail can be sent to it.
func address(typed string) string {
	email, ok := text.Email(strings.TrimSpace(typed))
	if !ok {
		return ""
	}
	return email
}

// line returns a typed text as one line of at most limit characters; empty when it is blank, longer, or not valid text.
func line(typed string, limit int) string {
	if len(typed) > 4*limit || strings.ToValidUTF8(typed, "") != typed || strings.ContainsRune(typed, 0) {
		return ""
	}
	one := strings.Join(strings.Fields(typed), " ")
	if text.Blank(one) || len([]rune(one)) > limit {
		return ""
	}
	return one
}

// busy asks the person to come again, because too many passwords are being hashed.
func (s *Server) busy(w http.ResponseWriter, r *http.Request) {
	pages.RetryAfter(w, 2*time.Second)
	s.Message(w, r, http.StatusServiceUnavailable, locale.Say("One moment, please"), locale.Say("Too many people are signing in at this moment. Go back and try again in a few seconds."), pages.Link{})
}
