package main

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"atrium/internal/gate"
	"atrium/internal/identity/account"
	"atrium/internal/identity/issuer"
	"atrium/internal/identity/password"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/run"
	"atrium/internal/websession"
)

// accountFlags are about how people sign in and what they are mailed.
type accountFlags struct {
	SMTPURL           string `name:"smtp-url" help:"Mail server: smtp://user:password@host (STARTTLS) or smtps://…; without one, mails are files in the data folder's outbox."`
	MailFrom          string `help:"Sender of mails, \"Name <address>\"; needed with --smtp-url."`
	SMSURL            string `name:"sms-url" help:"Address that text messages are posted to, as {\"to\", \"text\"}; \"console\" logs them instead, for development. Without it telephones cannot be enrolled."`
	SMSToken          string `name:"sms-token" help:"Bearer token for --sms-url."`
	SignUp            bool   `name:"signup" help:"Let anybody open a company at /signup."`
	BreachedPasswords string `help:"File of breached passwords' SHA-1 hashes, sorted, as Have I Been Pwned publishes them: they are refused." type:"path"`
}

// hosted are the pages of signing in, and the endpoints of the embedded provider; without it only session is there.
type hosted struct {
	session  http.Handler
	provider http.Handler
	signIn   http.Handler
	account  http.Handler

	endSignIn func(ctx context.Context, id string) error
}

// addIdentity builds the pages where people sign in. Where another issuer does that, the embedded provider has no place.
func (s *server) addIdentity(others *issuer.Directory) (*hosted, error) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))) // the provider's library logs there
	layout, err := signin.NewLayout(signin.LayoutOptions{AuthURL: s.AuthURL, Pages: embed.FS{}, Log: s.log})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	web := websession.Options{Engine: s.engine, BaseURL: s.BaseURL, Layout: layout, Log: s.log}
	if others != nil && s.OIDCClientID != "" {
		web.Issuer = others
		sessions, err := websession.New(web)
		if err != nil {
			return nil, fmt.Errorf("--oidc-issuer: %w", err)
		}
		out := &hosted{session: sessions.Handler()}
		out.guard(gate.NewStrangers(s.clock, s.log), layout)
		return out, nil
	}
	out, err := s.addProvider(layout)
	if err != nil {
		return nil, err
	}
	web.Embedded = &websession.Embedded{
		URL: s.AuthURL, Handler: out.provider, Tokens: s.tokens(s.BaseURL, s.AuthURL), EndSignIn: out.endSignIn,
	}
	sessions, err := websession.New(web)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	out.session = sessions.Handler()
	out.guard(gate.NewStrangers(s.clock, s.log), layout)
	return out, nil
}

// addProvider builds the embedded provider and the pages where people sign in to it and mind their accounts.
func (s *server) addProvider(layout *signin.Layout) (*hosted, error) {
	signIns := signin.NewSignIns(s.store)
	p, err := provider.New(provider.Options{
		Store: s.store, Keys: s.keys, Tokens: s.tokens(s.BaseURL, s.AuthURL), Issuer: s.AuthURL, BaseURL: s.BaseURL, Queue: s.queue,
		Log: s.log, SignedIn: signIns.Current, Render: layout.Frame,
	})
	if err != nil {
		return nil, fmt.Errorf("--auth-url: %w", err)
	}
	s.engine.Logouts = p
	sms, err := s.sms()
	if err != nil {
		return nil, err
	}
	hasher, err := s.hasher()
	if err != nil {
		return nil, err
	}
	pages, err := signin.New(signin.Options{
		Store: s.store, Provider: p, Hasher: hasher, Sealer: s.sealer, SMS: sms, AuthURL: s.AuthURL, BaseURL: s.BaseURL,
		SignUp: s.SignUp, Log: s.log, Notify: s.letters.Notify,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	rules, err := s.passwordRules()
	if err != nil {
		return nil, err
	}
	accounts, err := account.New(account.Options{
		Store: s.store, Provider: p, SignIn: pages, Hasher: hasher, Rules: rules, Letters: s.letters, AuthURL: s.AuthURL, BaseURL: s.BaseURL,
		SignUp: s.SignUp, Log: s.log,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	return &hosted{provider: p.Handler(), signIn: pages.Handler(), account: accounts.Handler(), endSignIn: p.EndSignIn}, nil
}

// hashPasswordsCmd is the helper that hashes passwords beside the server.
type hashPasswordsCmd struct{}

// Run performs what the server asks until it is gone.
func (hashPasswordsCmd) Run() error { return password.Help(os.Stdin, os.Stdout) } //nolint:wrapcheck // nobody reads it

// hasher returns what hashes passwords in processes of this binary.
func (s *server) hasher() (*password.Hasher, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the binary for password helpers: %w", err)
	}
	h := password.New(password.Options{Helper: []string{binary, "hash-passwords"}, Log: s.log})
	s.add(run.Part{Name: "password helpers", Run: func(ctx context.Context) error {
		<-ctx.Done()
		h.Close()
		return nil
	}})
	return h, nil
}

// sms returns what sends text messages; nil for nothing.
func (s *server) sms() (signin.SMS, error) {
	switch s.SMSURL {
	case "":
		return nil, nil //nolint:nilnil // package signin offers no telephones then
	case "console":
		s.log.Warn("text messages are written to the log, codes included; never use this in production")
		return signin.ConsoleSMS{Log: s.log}, nil
	}
	sender, err := signin.NewHTTPSMS(s.SMSURL, s.SMSToken)
	if err != nil {
		return nil, fmt.Errorf("--sms-url: %w", err)
	}
	s.add(run.Part{Name: "text messages", Run: func(ctx context.Context) error {
		<-ctx.Done()
		sender.Close()
		return nil
	}})
	return sender, nil
}

// passwordRules are the built-in ones, with the operator's file of breached passwords where there is one.
func (s *server) passwordRules() (*password.Rules, error) {
	if s.BreachedPasswords == "" {
		return password.NewRules(nil), nil
	}
	breached, err := password.OpenBreached(s.BreachedPasswords)
	if err != nil {
		return nil, fmt.Errorf("--breached-passwords: %w", err)
	}
	s.add(run.Part{Name: "breached passwords", Run: func(ctx context.Context) error {
		<-ctx.Done()
		return breached.Close()
	}})
	return password.NewRules(breached), nil
}
