package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"entgo.io/ent/dialect"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/agent"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/billing"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/reportmail"
	"atrium/internal/desk/request"
	"atrium/internal/desk/requestimport"
	"atrium/internal/desk/search"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/gate/console"
	"atrium/internal/gate/tlsfront"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/identity/provider"
	"atrium/internal/notify/inmail/listener"
	"atrium/internal/notify/inmail/sender"
	"atrium/internal/notify/mail"
	"atrium/internal/notify/mailbox"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/decisionlog"
	"atrium/internal/op/events"
	"atrium/internal/people"
	"atrium/internal/people/erasure"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/run"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow/execution"
	"atrium/internal/workflow/schedule"
)

// sampledDecisions is the fraction of allowed decisions in the decision log. It holds every refusal.
const sampledDecisions = 0.01

// core is what every command needs. Fields are in the order in which they are built.
type core struct {
	flags     dataFlags
	makes     bool // may create the database, its tables and the master key
	log       *slog.Logger
	clock     *clock.Clock
	clockMu   sync.Mutex // held by moveTo
	store     *store.Store
	authURL   string // base of links in mails
	consoleAt string // base of links to the console's pages in mails; empty in a binary without it
	sealer    *seal.Sealer
	keys      *identity.Keys
	queue     *jobs.Queue // inserts jobs
	outbox    *mail.Outbox
	mails     *account.Mails
	engine    *op.Engine
}

// open opens the database, creates it if there is none, migrates it to this version and builds what operations need. outside
// restricts the addresses that customers choose; nil allows only the public internet.
func (f dataFlags) open(ctx context.Context, outside *egress.Client) (*core, error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	return f.build(ctx, outside, true)
}

// openExisting is open for commands that need an existing installation: it creates neither a database nor a master key.
func (f dataFlags) openExisting(ctx context.Context) (*core, error) {
	if err := f.mustExist(); err != nil {
		return nil, err
	}
	return f.build(ctx, nil, false)
}

func (f dataFlags) build(ctx context.Context, outside *egress.Client, makes bool) (*core, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, fmt.Errorf("read the log level: %w", err)
	}
	c := &core{flags: f, makes: makes, clock: &clock.Clock{}, log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))}
	var err error
	if c.store, err = store.Open(ctx, store.Options{DataDir: f.Data, DatabaseURL: f.DatabaseURL, ReadURL: f.readURL, Clock: c.clock, WriteTime: f.writeTime, LockTime: f.lockTime}); err != nil {
		return nil, err
	}
	if err := c.build(ctx, outside); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *core) build(ctx context.Context, outside *egress.Client) (err error) {
	if err := c.migrateOrCheck(ctx); err != nil {
		return err
	}
	if err := c.readClock(ctx); err != nil {
		return err
	}
	var baseURL string
	if baseURL, c.authURL, err = c.addresses(ctx); err != nil {
		return err
	}
	c.consoleAt = console.At(baseURL)
	if c.sealer, err = c.openSealer(ctx); err != nil {
		return err
	}
	if err := c.checkMasterKey(ctx); err != nil {
		return err
	}
	decider, err := authz.New(ctx, authz.Options{PolicyDir: c.flags.PolicyDir})
	if err != nil {
		return fmt.Errorf("load the policies: %w", err)
	}
	c.keys = identity.NewKeys(c.store, c.sealer)
	if c.queue, err = jobs.New(c.store, c.log, false); err != nil {
		return err
	}
	c.outbox = mail.NewOutbox(c.queue, c.sealer)
	c.mails = account.NewMails(account.MailsOptions{Store: c.store, Outbox: c.outbox, Sealer: c.sealer, AuthURL: func() string { return c.authURL }, Console: func() string { return c.consoleAt },
		AnswerTo: func(ctx context.Context, db *ent.Client, u *ent.User, about string, note bool) (string, error) {
			return mailbox.AnswerTo(ctx, db, c.sealer, u, about, note)
		}, Began: mailbox.Began})
	c.engine = &op.Engine{
		Store: c.store, Authz: decider, Sealer: c.sealer, Mailer: c.mails, Queue: c.queue,
		Egress: outside, Log: c.log, Decisions: decisionlog.NewSampler(c.store, c.log, sampledDecisions),
	}
	c.engine.Events = events.Subscribers{webhook.Deliver(c.queue, c.engine), execution.Follow(c.queue), notice.Follow(c.queue), runs.Follow(c.store, c.queue)}
	c.engine.Agents = agent.NewDoor(c.engine, worker.Models{}) // a server has one with its models
	return nil
}

// migrateOrCheck migrates the database to this version, or checks its version if the command may not create anything.
func (c *core) migrateOrCheck(ctx context.Context) error {
	if c.makes {
		_, err := c.store.Migrate(ctx)
		return err
	}
	return c.store.CheckVersion(ctx)
}

func (c *core) close() error {
	if c.sealer != nil {
		c.sealer.Close()
	}
	return c.store.Close()
}

// tokens returns the issuer of access tokens for the server's addresses.
func (c *core) tokens(baseURL, authURL string) *identity.Tokens {
	return identity.NewTokens(c.keys, authURL, baseURL, c.clock.Now)
}

// server is what serve builds on the core.
type server struct {
	*serveCmd
	*core
	outside *egress.Client
	door    *agent.Door
	origins *identity.Origins // web origins that may call the API
	metrics *metrics
	told    <-chan struct{} // closed when the node is told to stop
	admin   *http.ServeMux  // the operators' listener
	adminAt netip.AddrPort  // the zero AddrPort when the listener has no IP address
	caFile  string          // the CA file, if the data folder's CA signed the certificate
	front   *tlsfront.Front
	console *console.Console // nil in a binary built without it
	depot   *attachment.Depot
	post    *mailbox.Post
	workers *jobs.Queue // works jobs; on a node that works none, the same as queue
	parts   []run.Part  // started together, stopped in reverse order
}

// build builds everything that runs, in order.
func (s *server) build(ctx context.Context) error {
	if err := s.addDepot(ctx); err != nil {
		return err
	}
	if err := s.addAdmin(ctx); err != nil {
		return err
	}
	if s.Role == "worker" {
		baseURL, authURL, err := s.addresses(ctx) // as set by the nodes with an API
		if err != nil {
			return err
		}
		s.BaseURL, s.AuthURL = cmp.Or(s.BaseURL, baseURL), cmp.Or(s.AuthURL, authURL)
	} else if err := s.addFront(ctx); err != nil {
		return err
	}
	s.authURL, s.consoleAt = s.AuthURL, console.At(s.BaseURL)
	s.engine.BaseURL = s.BaseURL
	s.add("decision log", s.engine.Decisions.Run)
	if s.PolicyDir != "" {
		s.add("policy folder", func(ctx context.Context) error { return s.engine.Authz.Watch(ctx, s.log) })
	}
	if err := s.addWork(ctx); err != nil {
		return err
	}
	if s.Role != "worker" {
		return s.addAPI(ctx)
	}
	s.add("ready line", func(ctx context.Context) error {
		fmt.Println("ready " + s.BaseURL)
		<-ctx.Done()
		return nil
	})
	return nil
}

func (s *server) add(name string, work func(context.Context) error) {
	s.parts = append(s.parts, run.Part{Name: name, Run: work})
}

// closes adds a part that only has to be closed at the end.
func (s *server) closes(name string, closer func() error) {
	s.add(name, func(ctx context.Context) error {
		<-ctx.Done()
		return closer()
	})
}

// addDepot builds what takes and gives the bytes of attached files. Uploads under way are in the data folder.
func (s *server) addDepot(ctx context.Context) error {
	stored, err := s.serveCmd.files(ctx)
	if err != nil {
		return err
	}
	d := attachment.Depot{Engine: s.engine, Files: stored, Spool: s.spoolDir(), Log: s.log}
	if s.Clamd != "" {
		d.Scan = &attachment.Scanner{Address: s.Clamd}
	}
	s.depot = attachment.NewDepot(d)
	if err := s.depot.RemoveBroken(); err != nil {
		s.log.WarnContext(ctx, "what broken uploads have left was not removed", "error", err)
	}
	s.engine.MailDomain = s.MailDomain
	return nil
}

// addPost builds what takes and works the mail of mailboxes.
func (s *server) addPost(roots *x509.CertPool) {
	s.post = mailbox.NewPost(mailbox.Post{
		Depot: s.depot, Sender: sender.Checker{Resolver: net.DefaultResolver}, Queue: s.queue, Bytes: ratelimit.NewBytes(ratelimit.NewMemory()),
		Dial: s.outside.Guard().DialContext, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
}

// addMail adds the listener that takes mail.
func (s *server) addMail(ctx context.Context) error {
	if s.SMTPListen == "" {
		return nil
	}
	cfg, err := s.certificates()
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.SMTPListen)
	if err != nil {
		return fmt.Errorf("--smtp-listen: %w", err)
	}
	fmt.Printf("smtp %s\n", ln.Addr())
	taking := listener.New(listener.Options{Domain: s.MailDomain, TLS: cfg, Known: s.post.Known, Store: s.post.Take, TooLarge: s.post.TooLarge, Log: s.log})
	s.add("mail listener", func(ctx context.Context) error { return taking.Serve(ctx, ln) })
	return nil
}

// addAdmin opens the operators' listener.
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
	s.add("admin listener", func(ctx context.Context) error { return serveHTTP(ctx, srv, ln) })
	if s.store.Dialect() == dialect.Postgres {
		s.add("clock", s.watchClock)
	}
	if s.DevClock {
		s.log.Warn("the development clock is on: time can be moved forward through the admin listener; never use this in production")
		s.add("development clock", s.followClock)
	}
	return nil
}

// addFront opens the API's listener, and stores the public addresses for workers and commands.
func (s *server) addFront(ctx context.Context) error {
	cfg, err := s.certificates()
	if err != nil {
		return err
	}
	if s.front, err = tlsfront.Listen(s.Listen, cfg); err != nil {
		return err
	}
	if err := s.resolveAddresses(s.front.Addr()); err != nil {
		return err
	}
	for name, value := range map[string]string{settingBaseURL: s.BaseURL, settingAuthURL: s.AuthURL, settingCAFile: s.caFile} {
		if err := s.set(ctx, name, value); err != nil {
			return err
		}
	}
	return nil
}

// certificates returns the TLS configuration of the front: from ACME, files, or the CA in the data folder.
func (s *server) certificates() (*tls.Config, error) {
	if len(s.ACMEDomain) > 0 {
		return tlsfront.ACME(s.ACMEDomain, s.ACMEDirectory, s.ACMEEmail, filepath.Join(s.Data, "acme"))
	}
	cert, key := s.TLSCert, s.TLSKey
	if cert == "" {
		hosts := s.hosts()
		ca, madeCert, madeKey, err := tlsfront.LocalCA(s.Data, hosts, time.Now())
		if err != nil {
			return nil, err
		}
		if s.caFile, err = filepath.Abs(ca); err != nil {
			return nil, fmt.Errorf("name the CA file: %w", err)
		}
		cert, key = madeCert, madeKey
		s.add("certificate renewal", func(ctx context.Context) error { return tlsfront.RenewLocalCA(ctx, s.Data, hosts, time.Now) })
	}
	files, err := tlsfront.CertFiles(cert, key)
	if err != nil {
		return nil, err
	}
	return files.TLSConfig(), nil
}

// mailSender returns what sends mails.
func (s *server) mailSender(roots *x509.CertPool) (mail.Sender, error) {
	o := mail.Options{URL: s.SMTPURL, From: s.MailFrom, Dir: filepath.Join(s.Data, "outbox"), CAs: roots, Returns: s.MailReturn}
	if s.DKIMKeyFile != "" {
		var err error
		if o.DKIM, err = mail.ReadDKIM(s.DKIMKeyFile, s.DKIMSelector, s.MailFrom); err != nil {
			return nil, fmt.Errorf("--dkim-key-file: %w", err)
		}
		name, text := o.DKIM.Record()
		s.log.Info("mails are signed by DKIM; DNS must have this TXT record", "name", name, "text", text)
	}
	sender, err := mail.Open(o)
	if err != nil {
		return nil, fmt.Errorf("--smtp-url: %w", err)
	}
	return sender, nil
}

// addWork builds the background work of all packages, and adds the job queue on nodes that work jobs.
func (s *server) addWork(ctx context.Context) error {
	roots, err := egress.Roots(s.EgressCA)
	if err != nil {
		return fmt.Errorf("--egress-ca: %w", err)
	}
	sender, err := s.mailSender(roots)
	if err != nil {
		return err
	}
	s.addPost(roots)
	hooks, err := webhook.New(webhook.Options{
		Store: s.store, Engine: s.engine, Queue: s.queue, Sealer: s.sealer, Egress: s.outside, Mail: s.outbox, Retries: s.WebhookRetries, Metrics: s.metrics.registry, Log: s.log,
	})
	if err != nil {
		return fmt.Errorf("--webhook-retries: %w", err)
	}
	key, err := s.auditKey(ctx) // nodes with an API sign proofs with it
	if err != nil {
		return err
	}
	execution.Measure(s.metrics.registry)
	if s.workers = s.queue; s.Role == "api" {
		return nil
	}
	if err := s.addAuditLog(ctx, key); err != nil {
		return err
	}
	s.add("search index", search.NewIndexer(s.store, s.log).Run)
	s.workers, err = jobs.New(s.store, s.log, true, append(identity.Rotation(s.keys), jobs.Measured(s.metrics.registry), identity.Sweeps(),
		jobs.Sweeps(
			jobs.Sweep{Rows: "idempotency keys", Kept: op.IdempotencyWindow, Delete: op.DeleteIdempotencyKeys},
			jobs.Sweep{Rows: "daily counts", Delete: ratelimit.DeleteDayCounts},
			jobs.Sweep{Rows: "decisions", Kept: decisionlog.Age, Delete: decisionlog.Delete},
			jobs.Sweep{Rows: "decisions beyond a company's share", Delete: decisionlog.DeleteExcess},
		),
		inbound.Sweeps(), plans.Sweeps(),
		mail.Work(s.store, sender, s.sealer),
		account.Work(s.mails),
		provider.Logouts(s.store, s.keys, s.AuthURL, s.outside.HTTP()),
		hooks.Work(),
		billing.Renewal(s.engine, s.charges()),
		notice.Work(s.engine, notice.Reads{Request: request.Get.Info(), Comment: request.GetComment.Info(), Task: execution.GetTask.Info(), Shown: execution.MailedWithTask}),
		execution.New(execution.Options{Engine: s.engine, Egress: s.outside}).Work(),
		request.Clocks(s.engine, execution.TaskClocks),
		s.agents(),
		requestimport.Work(s.engine), schedule.Work(s.engine), reportmail.Work(s.engine), erasure.Work(s.engine), people.Work(s.engine), s.depot.Work(), s.post.Work(),
	)...)
	if err != nil {
		return err
	}
	if err := s.addRiverUI(); err != nil {
		return err
	}
	s.add("job queue", func(ctx context.Context) error {
		defer hooks.Close()
		if err := timer.Start(ctx, s.store, s.queue); err != nil { // the periodic sweep does the same a little later
			s.log.WarnContext(ctx, "what fell due meanwhile waits for the next sweep", "error", err)
		}
		return s.workers.Run(ctx)
	})
	return nil
}

// agents returns the workers of the agents' jobs. With --no-agents their queues are left out, and those jobs wait: River discards jobs
// whose kind it does not know when it rescues them.
func (s *server) agents() jobs.Option {
	if s.NoAgents {
		return s.door.Know(s.outside)
	}
	return s.door.Work(s.outside)
}
