package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"atrium/graph"
	"atrium/internal/authn"
	"atrium/internal/egress"
	"atrium/internal/feed"
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/identity/provider"
	"atrium/internal/jobs"
	"atrium/internal/mail"
	"atrium/internal/ratelimit"
	"atrium/internal/run"
	"atrium/internal/tlsfront"
	"atrium/internal/webhook"
	"atrium/rest"
)

type serveCmd struct {
	dataFlags
	accountFlags
	issuerFlags
	Listen      string `default:"127.0.0.1:8443" help:"Address of the API; HTTPS only."`
	AdminListen string `default:"127.0.0.1:9443" help:"Address for health, metrics and operators; plain HTTP, keep it on loopback."`
	BaseURL     string `help:"Address that callers use (default: https:// and the listening address)."`
	AuthURL     string `help:"Address of the identity provider (default: the base URL)."`
	Role        string `default:"all" enum:"all,api,worker" help:"all, api or worker."`
	RedisURL    string `help:"Redis that counts calls for several nodes; without it each node counts for itself."`
	NoDemo      bool   `help:"Make no demo company in an empty database."`
	DevClock    bool   `help:"Let POST /dev/clock on the admin listener move time forward. Never in production."`

	TLSCert       string   `help:"Certificate file, read again when it changes (default: one by the CA in the data folder)." type:"path"`
	TLSKey        string   `help:"Key file of the certificate." type:"path"`
	ACMEDomain    []string `help:"Get certificates for these names by ACME."`
	ACMEEmail     string   `help:"Contact for the ACME account."`
	ACMEDirectory string   `help:"The ACME directory (default: Let's Encrypt)."`

	GraphQLTrustedOnly string `name:"graphql-trusted-only" help:"Manifest of GraphQL documents by the SHA-256 of their text, in JSON: callers with a session cookie run no others." type:"path"`

	WebhookRetries []time.Duration `default:"30s,2m,10m,1h,6h" help:"Waits before the retries of a webhook delivery."`
	EgressAllow    []netip.Prefix  `help:"Private networks that outbound calls may reach, as CIDR."`
	EgressCA       string          `help:"CAs that outbound calls trust besides the system's." type:"path"`
}

// Run serves until it is told to stop.
func (m *serveCmd) Run(ctx context.Context) (err error) {
	run.TuneGC()
	if (m.TLSCert == "") != (m.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	c, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	stopTracing, err := startTracing(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopTracing()) }()
	s := &server{serveCmd: m, core: c, metrics: newMetrics()}
	parts, err := s.parts(ctx)
	if err != nil {
		return err
	}
	debug.FreeOSMemory()                 // what reading policies, schemas and migrations left behind
	return run.All(ctx, c.log, parts...) //nolint:wrapcheck // names the part
}

// server is what serve builds, in order.
type server struct {
	*serveCmd
	*core
	metrics *metrics
	admin   *http.ServeMux // of the listener for operators
	adminAt netip.AddrPort // the zero AddrPort when it is not at an address of IP
	egress  *egress.Client
	hooks   *webhook.Dispatcher
	queue   *jobs.Queue
	front   *tlsfront.Front
	running []run.Part
	caFile  string
}

// parts builds everything that runs: what is listed first stops last.
func (s *server) parts(ctx context.Context) ([]run.Part, error) {
	if err := s.addAdmin(ctx); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := s.addQueue(); err != nil {
		return nil, err
	}
	if s.Role != "worker" {
		if err := s.addAPI(ctx); err != nil {
			return nil, err
		}
		return s.running, nil
	}
	s.add(run.Part{Name: "ready line", Run: func(ctx context.Context) error {
		fmt.Println("ready " + s.BaseURL) // of the nodes that have an API
		<-ctx.Done()
		return nil
	}})
	return s.running, nil
}

// settle opens the listener of a node that has an API, and finds the addresses that callers use: for a worker those that
// the other nodes run under, unless it is told them.
func (s *server) settle(ctx context.Context) error {
	if s.Role != "worker" {
		if err := s.openFront(ctx); err != nil {
			return err
		}
		for name, value := range map[string]string{settingBaseURL: s.BaseURL, settingAuthURL: s.AuthURL, settingCAFile: s.caFile} {
			if err := s.set(ctx, name, value); err != nil {
				return err
			}
		}
		return nil
	}
	baseURL, authURL, err := s.addresses(ctx)
	if err != nil {
		return err
	}
	s.BaseURL, s.AuthURL = cmp.Or(s.BaseURL, baseURL), cmp.Or(s.AuthURL, authURL)
	return nil
}

func (s *server) add(p run.Part) { s.running = append(s.running, p) }

// addAdmin opens the listener for operators.
func (s *server) addAdmin(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.AdminListen)
	if err != nil {
		return fmt.Errorf("open the admin listener: %w", err)
	}
	fmt.Printf("admin http://%s\n", ln.Addr())
	s.adminAt, _ = netip.ParseAddrPort(ln.Addr().String())
	if !s.adminAt.Addr().IsLoopback() {
		s.log.Warn("the admin listener can be reached from other machines: it asks nobody who they are", "address", ln.Addr().String())
	}
	s.admin = s.adminHandler()
	srv := &http.Server{
		Handler: s.admin, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	s.add(run.Part{Name: "admin listener", Run: func(ctx context.Context) error { return serveHTTP(ctx, srv, ln) }})
	if s.DevClock {
		s.log.Warn("the development clock is on: time can be moved forward through the admin listener; never use this in production")
		s.add(run.Part{Name: "development clock", Run: s.followClock})
	}
	return nil
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, srv *http.Server, ln net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return srv.Shutdown(sctx) //nolint:wrapcheck // the part's name is added by run
}

// addQueue opens the job queue, and starts it where this node works jobs.
func (s *server) addQueue() (err error) {
	works := s.Role != "api"
	s.addMail(s.AuthURL)
	if s.egress, err = egress.New(egress.Options{Allow: s.EgressAllow, CAFile: s.EgressCA}); err != nil {
		return fmt.Errorf("--egress-ca: %w", err)
	}
	s.engine.Egress = s.egress.Guard()
	kinds, err := s.jobs()
	if err != nil {
		return err
	}
	if s.queue, err = jobs.New(s.store, s.log, works, kinds...); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	s.outbox.Use(s.queue)
	work := s.queue.Run
	if !works {
		work = func(ctx context.Context) error {
			<-ctx.Done()
			return s.queue.Close()
		}
	}
	s.add(run.Part{Name: "job queue", Run: func(ctx context.Context) error {
		defer s.hooks.Close()
		return work(ctx)
	}})
	return nil
}

// jobs are the kinds of work that outlive a call, of every package that has some.
func (s *server) jobs() ([]jobs.Option, error) {
	roots, err := egress.Roots(s.EgressCA)
	if err != nil {
		return nil, fmt.Errorf("--egress-ca: %w", err)
	}
	sender, err := mail.Open(mail.Options{URL: s.SMTPURL, From: s.MailFrom, Dir: filepath.Join(s.Data, "outbox"), CAs: roots})
	if err != nil {
		return nil, fmt.Errorf("--smtp-url: %w", err)
	}
	s.hooks, err = webhook.New(webhook.Options{
		Store: s.store, Sealer: s.sealer, Egress: s.egress, Mail: s.outbox, Retries: s.WebhookRetries, Metrics: s.metrics.registry, Log: s.log,
	})
	if err != nil {
		return nil, fmt.Errorf("--webhook-retries: %w", err)
	}
	return append(identity.Rotation(s.keys),
		mail.Work(sender, s.sealer), account.Work(s.letters), provider.Logouts(s.store, s.keys, s.egress.HTTP()), s.hooks.Work(),
	), nil
}

// addAPI makes the demo company in an empty database, and serves the doors.
func (s *server) addAPI(ctx context.Context) error {
	limiter, err := s.limiter(ctx)
	if err != nil {
		return err
	}
	others, err := s.issuer()
	if err != nil {
		return err
	}
	auth := authn.New(s.store, s.tokens(s.BaseURL, s.AuthURL), authn.WithIssuer(others))
	s.add(run.Part{Name: "decision log", Run: s.engine.Decisions.Run})
	if s.flags.PolicyDir != "" {
		s.add(run.Part{Name: "policy folder", Run: func(ctx context.Context) error { return s.engine.Authz.Watch(ctx, s.log) }})
	}
	s.add(run.Part{Name: "last-used times", Run: func(ctx context.Context) error { return auth.Run(ctx, s.log) }})
	g := gate.New(gate.Options{Authn: auth, Limiter: limiter, Clock: s.clock, Log: s.log, Observe: s.metrics.observe})
	api, err := rest.New(rest.Options{Engine: s.engine, Gate: g, Log: s.log, BaseURL: s.BaseURL})
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	pages, err := s.addIdentity(others)
	if err != nil {
		return err
	}
	graphQL, err := s.graphQL(g)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: traced(g.Front(s.doors(api, graphQL, pages))), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	srv.RegisterOnShutdown(graphQL.EndStreams)
	s.addGraphiQL(g, graphQL)
	if err := s.greet(ctx); err != nil {
		return err
	}
	s.add(run.Part{Name: "API", Grace: 35 * time.Second, Run: func(ctx context.Context) error {
		defer graphQL.Close()
		fmt.Println("ready " + s.BaseURL)
		return s.front.Serve(ctx, srv)
	}})
	return nil
}

// graphQL builds the second door.
func (s *server) graphQL(g *gate.Gate) (_ *graph.Server, err error) {
	o := graph.Options{Engine: s.engine, Gate: g, Log: s.log, BaseURL: s.BaseURL}
	if o.Feed, err = feed.New(feed.Options{Store: s.store, Log: s.log, Metrics: s.metrics.registry}); err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if o.StreamMetrics, err = graph.NewStreamMetrics(s.metrics.registry); err != nil {
		return nil, fmt.Errorf("register the metrics of streams: %w", err)
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

// limiter counts calls in Redis when there is one, else in memory with the day's counts kept in the database.
func (s *server) limiter(ctx context.Context) (ratelimit.Limiter, error) {
	if s.RedisURL != "" {
		client, err := ratelimit.OpenRedis(s.RedisURL)
		if err != nil {
			return nil, err //nolint:wrapcheck // says what it was doing
		}
		s.add(run.Part{Name: "Redis", Run: func(ctx context.Context) error {
			<-ctx.Done()
			return client.Close()
		}})
		return ratelimit.NewRedis(client), nil
	}
	mem := ratelimit.NewMemory()
	counts, err := authn.NewDayCounts(ctx, s.store, mem)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	s.add(run.Part{Name: "daily counts", Run: func(ctx context.Context) error { return counts.Run(ctx, s.log) }})
	return mem, nil
}

// openFront opens the TLS listener and settles the addresses that callers use.
func (s *server) openFront(ctx context.Context) error {
	cfg, err := s.certificates()
	if err != nil {
		return err
	}
	if s.front, err = tlsfront.Listen(s.Listen, cfg, tlsfront.WithLogger(s.log)); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	if s.BaseURL == "" {
		s.BaseURL = "https://" + callable(s.Listen, s.front.Addr())
	}
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	if s.AuthURL == "" {
		s.AuthURL = s.BaseURL
	}
	s.AuthURL = strings.TrimSuffix(s.AuthURL, "/")
	for _, flag := range []struct{ name, value string }{{"--base-url", s.BaseURL}, {"--auth-url", s.AuthURL}} {
		if u, err := url.Parse(flag.value); err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("%s must be https:// and a host, without a path", flag.name)
		}
	}
	return nil
}

// callable is an address that a client on this machine can dial: under the name that the operator has given, and
// localhost for one that listens everywhere.
func callable(listen string, a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	host, _, err := net.SplitHostPort(listen)
	if err == nil && host != "" && net.ParseIP(host) == nil {
		return fmt.Sprintf("%s:%d", host, ap.Port())
	}
	if ap.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", ap.Port())
	}
	return a.String()
}
