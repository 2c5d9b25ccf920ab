package signin

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"context"

	"github.com/go-webauthn/webauthn/webauthn"

	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/throttle"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/share"
	"atrium/internal/platform/store"
)

//go:embed pages/*.html
var templates embed.FS

// The addresses that other packages link to.
const (
	PathSignIn  = "/signin"
	PathFactors = "/account/mfa"
	pathForgot  = "/forgot" // package account's
)

// The kinds for Options.Notify.
const (
	FactorAdded   = "factor_added"
	FactorRemoved = "factor_removed"
	CodesRenewed  = "recovery_codes_renewed"
	CodeUsed      = "recovery_code_used"
	FactorsReset  = "mfa_reset" // by an administrator
)

// Options are a Server's dependencies.
type Options struct {
	Store     *store.Store
	Provider  *provider.Provider
	Hasher    *password.Hasher
	Sealer    op.Sealer
	SMS       mfa.SMS // nil: telephones cannot be enrolled
	SMSPerDay int     // text messages of the installation in a day; 0 means 1,000
	AuthURL   string  // origin of the hosted pages
	BaseURL   string  // of the web application, whose /login starts a sign-in
	SignUp    bool    // /signup is open to everybody
	Log       *slog.Logger

	// Notify mails the person about a changed factor, in the transaction that changes it, whose context can access rows
	// of no company; nil for no mail.
	Notify func(ctx context.Context, tx *store.Tx, accountID, kind string) error
}

// DefaultSMSPerDay is the number of text messages that an installation sends in a day for signing in.
const DefaultSMSPerDay = 1_000

// maxAtOnce limits the proofs that are checked at the same time. Further requests are told to come again before anything
// is read or written for them.
const maxAtOnce = 128

// ofOneNetwork limits those that come from one network, so that others are let in beside it.
const ofOneNetwork = maxAtOnce / 2

// Server serves the pages. Safe for concurrent use.
type Server struct {
	*pages.Layout
	log       *slog.Logger
	store     *store.Store
	provider  *provider.Provider
	hasher    *password.Hasher
	sealer    op.Sealer
	sms       mfa.SMS
	smsPerDay int
	host      string // of the pages; codes in messages and passkeys are bound to it
	baseURL   string
	signUp    bool
	notify    func(ctx context.Context, tx *store.Tx, accountID, kind string) error
	passkeys  *webauthn.WebAuthn // nil on an IP address, where browsers have no passkeys
	signIns   *SignIns
	throttle  *throttle.Throttle
	slots     *share.Places // by the networks of clients
}

// New returns the pages' server. It reads and writes nothing before the first request.
func New(o Options) (*Server, error) {
	own, err := fs.Sub(templates, "pages")
	if err != nil {
		return nil, fmt.Errorf("signin: find the pages: %w", err)
	}
	layout, err := pages.NewLayout(pages.LayoutOptions{AuthURL: o.AuthURL, Pages: own, Log: o.Log, Reader: NewSignIns(o.Store).Reader})
	if err != nil {
		return nil, err
	}
	if o.Store == nil || o.Provider == nil || o.Hasher == nil || o.Sealer == nil {
		return nil, errors.New("signin: store, provider, hasher and sealer are needed")
	}
	s := &Server{
		Layout: layout, log: o.Log, store: o.Store, provider: o.Provider, hasher: o.Hasher, sealer: o.Sealer, sms: o.SMS, smsPerDay: cmp.Or(o.SMSPerDay, DefaultSMSPerDay),
		baseURL: strings.TrimRight(o.BaseURL, "/"), signUp: o.SignUp, notify: o.Notify, signIns: NewSignIns(o.Store), slots: share.New(maxAtOnce, ofOneNetwork),
	}
	s.throttle = throttle.New(o.Store)
	u, err := url.Parse(layout.Origin())
	if err != nil {
		return nil, fmt.Errorf("signin: read the address of the pages: %w", err)
	}
	s.host = u.Hostname()
	if s.passkeys, err = newPasskeys(s.host, layout.Origin()); err != nil {
		return nil, err
	}
	return s, nil
}

// newPasskeys returns the WebAuthn server for the host; nil for an IP address, which WebAuthn does not support.
func newPasskeys(host, origin string) (*webauthn.WebAuthn, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return nil, nil
	}
	w, err := webauthn.New(&webauthn.Config{RPID: host, RPDisplayName: productName, RPOrigins: []string{origin}})
	if err != nil {
		return nil, fmt.Errorf("signin: set passkeys up: %w", err)
	}
	return w, nil
}

// productName is what authenticators show.
const productName = "Atrium"

// SignIns returns the sign-ins, for pages of other packages.
func (s *Server) SignIns() *SignIns { return s.signIns }

// Handler serves /signin and /account/mfa, with everything below them.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{
		"GET /signin":           s.show,
		"POST /signin/password": s.bounded(s.postPassword),
		"POST /signin/passkey":  s.bounded(s.postPasskey),
		"POST /signin/code":     s.bounded(s.postCode),
		"POST /signin/code/sms": s.bounded(s.postSendCode),
		"POST /signin/account":  s.postAccount,
		"POST /signin/company":  s.postCompany,
		"POST /signin/consent":  s.postConsent,
		"POST /signin/refused":  s.postRefused,

		"GET /account/mfa":          s.showFactors,
		"POST /account/mfa/rename":  s.postRename,
		"POST /account/mfa/remove":  s.postRemove,
		"POST /account/mfa/codes":   s.postRenewCodes,
		"POST /account/mfa/signout": s.postSignOut,
	} {
		mux.HandleFunc(pattern, h)
	}
	for what, h := range map[string]enrolHandler{
		"totp": s.postTOTP, "passkey": s.postNewPasskey, "sms": s.postNumber, "sms/code": s.postNumberCode, "kept": s.postKept,
	} {
		mux.HandleFunc("POST /signin/enrol/"+what, s.bounded(s.enrolling(s.forcedPlace, h)))
		mux.HandleFunc("POST /account/mfa/"+what, s.bounded(s.enrolling(s.ownPlace, h)))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Message(w, r, http.StatusNotFound, locale.Say("There is no such page"), locale.Say("The address is not one of ours, or it takes a form that was not sent."), s.home())
	})
	guarded := s.Guard(mux)
	files := pages.Static()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, pages.PathStatic) {
			files.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// home links to the web application.
func (s *Server) home() pages.Link {
	return pages.Link{Text: locale.Say("Go to Atrium"), To: s.baseURL + "/login"}
}

// bounded limits how many proofs are checked at once.
func (s *Server) bounded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		leave, ok := s.slots.TakeNow(throttle.Network(r))
		if !ok {
			s.busy(w, r)
			return
		}
		defer leave()
		next(w, r)
	}
}
