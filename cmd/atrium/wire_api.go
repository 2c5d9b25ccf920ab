package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"time"

	"atrium/graph"
	"atrium/internal/agent/mcp"
	"atrium/internal/gate"
	"atrium/internal/gate/console"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/issuer"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/websession"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/run"
	"atrium/rest"
)

// addAPI builds the APIs, creates the demo company in an empty database, and adds the API server.
func (s *server) addAPI(ctx context.Context) error {
	limits, err := s.limits(ctx)
	if err != nil {
		return err
	}
	others, err := s.issuer()
	if err != nil {
		return err
	}
	auth := authn.New(s.store, s.tokens(s.BaseURL, s.AuthURL), authn.WithIssuer(others))
	s.metrics.addReplica(s.store)
	s.add("replica", func(ctx context.Context) error { return s.store.FollowReplica(ctx, s.log) })
	s.origins = identity.NewOrigins(s.store, s.log, s.BaseURL)
	s.add("last-used times", func(ctx context.Context) error { return auth.Run(ctx, s.log) })
	g := gate.New(gate.Options{
		Authn: auth, Limiter: limits.calls, Anonymous: limits.anonymous, Clock: s.clock, Log: s.log, Observe: s.metrics.observe, Origins: s.origins.Has, Agents: s.door,
		Logged: gate.Logged(s.AccessLog), AccessLog: slog.New(slog.NewJSONHandler(os.Stderr, nil)), // at any log level
		StrictTransport: s.caFile == "",
	})
	o := rest.Options{Engine: s.engine, Gate: g, Log: s.log, BaseURL: s.BaseURL, Files: s.depot, Mail: s.post, Outside: s.outside}
	if others == nil {
		o.AuthURL = s.AuthURL
	}
	api, err := rest.New(o)
	if err != nil {
		return err
	}
	signingIn, err := s.pages(g, others)
	if err != nil {
		return err
	}
	if s.console, err = console.New(console.Options{Dir: s.ConsoleDir, BaseURL: s.BaseURL, AuthURL: s.AuthURL, Version: programVersion()}); err != nil {
		return fmt.Errorf("--console-dir: %w", err)
	}
	graphQL, err := s.graphQL(g, limits.streams)
	if err != nil {
		return err
	}
	agents, err := mcp.New(mcp.Options{
		Engine: s.engine, Gate: g, Calls: api.Inside(), Log: s.log, BaseURL: s.BaseURL, AuthURL: cmp.Or(s.OIDCIssuer, s.AuthURL), Version: programVersion(),
	})
	if err != nil {
		return fmt.Errorf("build the door of agents: %w", err)
	}
	srv := &http.Server{
		Handler: traced(g.Front(s.doors(g, api, graphQL, agents, signingIn))), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	srv.RegisterOnShutdown(graphQL.EndStreams)
	s.addGraphiQL(g, graphQL)
	if s.console != nil {
		fmt.Println("console " + s.BaseURL + console.Path)
	}
	if err := s.addMail(ctx); err != nil {
		return err
	}
	if err := s.setUpDemo(ctx); err != nil {
		return err
	}
	if others != nil {
		if err := others.CheckCompany(ctx); err != nil {
			return fmt.Errorf("--oidc-company: %w", err)
		}
	}
	s.parts = append(s.parts, run.Part{Name: "API", Grace: 35 * time.Second, Run: func(ctx context.Context) error {
		defer graphQL.Close()
		fmt.Println("ready " + s.BaseURL)
		return s.front.Serve(ctx, srv)
	}})
	return nil
}

// limits holds the counters of calls and streams.
type limits struct {
	calls     ratelimit.Limiter
	anonymous *gate.Anonymous  // nil: counted on this node only
	streams   *ratelimit.Seats // nil: counted on this node only
}

// limits counts in Redis if it is configured. Otherwise it counts in memory and keeps the day's counts in the database.
func (s *server) limits(ctx context.Context) (*limits, error) {
	if s.RedisURL != "" {
		return s.sharedLimits(ctx)
	}
	mem := ratelimit.NewMemory()
	counts, err := ratelimit.NewDayCounts(ctx, s.store, mem)
	if err != nil {
		return nil, err
	}
	s.add("daily counts", func(ctx context.Context) error { return counts.Run(ctx, s.log) })
	return &limits{calls: mem}, nil
}

// sharedLimits counts in Redis, shared by all nodes that use it.
func (s *server) sharedLimits(ctx context.Context) (*limits, error) {
	client, err := ratelimit.OpenRedis(s.RedisURL, s.log)
	if err != nil {
		return nil, err
	}
	s.closes("Redis", client.Close)
	seed, err := s.generatedSetting(ctx, settingAnonymous)
	if err != nil {
		return nil, err
	}
	calls := ratelimit.NewFailover(ratelimit.NewRedis(client), s.log)
	return &limits{calls: calls, anonymous: gate.NewAnonymous(calls, seed, s.clock, s.log), streams: ratelimit.NewSeats(client, s.log)}, nil
}

// issuer returns the directory of the external issuer's users; nil without an external issuer.
func (s *server) issuer() (*issuer.Directory, error) {
	o, err := s.issuerOptions(s.EgressCA)
	if o == nil || err != nil {
		return nil, err
	}
	i, err := issuer.New(*o, s.clock.Now)
	if err != nil {
		return nil, fmt.Errorf("--oidc-issuer: %w", err)
	}
	return issuer.NewDirectory(i, s.engine), nil
}

// pages builds the pages for signing in. With an external issuer the embedded provider is left out.
func (s *server) pages(g *gate.Gate, others *issuer.Directory) (*signInHandlers, error) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))) // the provider's library logs to the default logger
	layout, err := pages.NewLayout(pages.LayoutOptions{AuthURL: s.AuthURL, Pages: embed.FS{}, Log: s.log, Reader: signin.NewSignIns(s.store).Reader})
	if err != nil {
		return nil, err
	}
	web := websession.Options{Engine: s.engine, BaseURL: s.BaseURL, Layout: layout, Log: s.log}
	out := &signInHandlers{}
	if others != nil && s.OIDCClientID != "" {
		web.Issuer = others
	} else {
		if out, err = s.provider(layout); err != nil {
			return nil, err
		}
		web.Embedded = &websession.Embedded{URL: s.AuthURL, Handler: out.provider, Tokens: s.tokens(s.BaseURL, s.AuthURL)}
	}
	sessions, err := websession.New(web)
	if err != nil {
		return nil, fmt.Errorf("--oidc-issuer: %w", err)
	}
	out.session = sessions.Handler()
	out.guard(g.Anonymous, layout)
	return out, nil
}

// provider builds the embedded provider, its sign-in pages and the account pages.
func (s *server) provider(layout *pages.Layout) (*signInHandlers, error) {
	p, err := provider.New(provider.Options{
		Store: s.store, Keys: s.keys, Tokens: s.tokens(s.BaseURL, s.AuthURL), Issuer: s.AuthURL, BaseURL: s.BaseURL, Queue: s.queue,
		Log: s.log, SignedIn: signin.NewSignIns(s.store).Current, Render: layout.Frame, Origins: s.origins.Has,
	})
	if err != nil {
		return nil, fmt.Errorf("--auth-url: %w", err)
	}
	sms, err := s.sms()
	if err != nil {
		return nil, err
	}
	hasher := password.New(password.Options{})
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + hasher.Workers()) // each password being hashed occupies a thread that Go would use for calls
	signIn, err := signin.New(signin.Options{
		Store: s.store, Provider: p, Hasher: hasher, Sealer: s.sealer, SMS: sms, SMSPerDay: s.SMSPerDay, AuthURL: s.AuthURL, BaseURL: s.BaseURL,
		SignUp: s.SignUp, Log: s.log, Notify: s.mails.Notify,
	})
	if err != nil {
		return nil, err
	}
	var breached *password.Breached
	if s.BreachedPasswords != "" {
		if breached, err = password.OpenBreached(s.BreachedPasswords); err != nil {
			return nil, fmt.Errorf("--breached-passwords: %w", err)
		}
		s.closes("breached passwords", breached.Close)
	}
	accounts, err := account.New(account.Options{
		Engine: s.engine, SignIn: signIn, Hasher: hasher, Rules: password.NewRules(breached), Mails: s.mails, AuthURL: s.AuthURL, BaseURL: s.BaseURL,
		SignUp: s.SignUp, Log: s.log,
	})
	if err != nil {
		return nil, err
	}
	return &signInHandlers{provider: p.Handler(), signIn: signIn.Handler(), account: accounts.Handler()}, nil
}

// sms returns the sender of text messages. It is nil without one; then package signin does not offer telephones.
func (s *server) sms() (mfa.SMS, error) {
	switch s.SMSURL {
	case "":
		return nil, nil
	case "console":
		s.log.Warn("text messages are written to the log, codes included; never use this in production")
		return mfa.ConsoleSMS{Log: s.log}, nil
	}
	sender, err := mfa.NewHTTPSMS(s.SMSURL, s.SMSToken)
	if err != nil {
		return nil, fmt.Errorf("--sms-url: %w", err)
	}
	s.closes("text messages", func() error { sender.Close(); return nil })
	return sender, nil
}

// graphQL builds the GraphQL API.
func (s *server) graphQL(g *gate.Gate, streams *ratelimit.Seats) (_ *graph.Server, err error) {
	o := graph.Options{Engine: s.engine, Gate: g, Log: s.log, BaseURL: s.BaseURL, Seats: streams}
	if o.Feed, err = feed.New(feed.Options{Store: s.store, Log: s.log, Metrics: s.metrics.registry}); err != nil {
		return nil, err
	}
	if o.StreamMetrics, err = graph.NewStreamMetrics(s.metrics.registry); err != nil {
		return nil, fmt.Errorf("register the metrics of streams: %w", err)
	}
	if s.console != nil {
		manifest, err := s.console.Documents()
		if err == nil {
			o.Pages, err = graph.ReadDocuments(manifest)
		}
		if err != nil {
			return nil, fmt.Errorf("the console's documents: %w", err)
		}
	}
	if s.GraphQLTrustedOnly != "" {
		manifest, err := os.ReadFile(s.GraphQLTrustedOnly)
		if err == nil {
			o.Trusted, err = graph.ReadDocuments(manifest)
		}
		if err != nil {
			return nil, fmt.Errorf("--graphql-trusted-only: %w", err)
		}
	}
	return graph.New(o), nil
}
