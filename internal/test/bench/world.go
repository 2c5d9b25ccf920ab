package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/authz"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/gate/tlsfront"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
)

// tenant is the company that gets the load.
type tenant struct {
	CompanyID, OwnerID, Key string
	Services                []service
	sample                  []string // ids of some seeded requests
	inbound                 string   // id of a webhook that starts its workflow
}

// service is a service with two offerings: one without a form, and one with a form of five fields.
type service struct{ ID, Plain, Formed string }

// world is a migrated database with one company. The child processes receive the exported fields.
type world struct {
	Dialect       string
	Dir           string // master key, TLS files, SQLite's file
	DatabaseURL   string // PostgreSQL
	CA, Cert, Key string // TLS
	Main          tenant
	Others        [len(everythings)]tenant // with parts of the product switched on, once it is served

	settings string // of the database, as printed in the report
	drop     func() error
}

// servicesPerCompany is the number of services that the requests of a company are spread over.
const servicesPerCompany = 10

func newWorld(ctx context.Context, o options, dialect string) (w *world, err error) {
	w = &world{Dialect: dialect, settings: "WAL, synchronous=FULL", drop: func() error { return nil }}
	if w.Dir, err = os.MkdirTemp("", "atrium-bench-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.CA, w.Cert, w.Key, err = tlsfront.LocalCA(w.Dir, nil, time.Now()); err != nil {
		return nil, err
	}
	if err := seal.CreateFile(filepath.Join(w.Dir, "master.key")); err != nil {
		return nil, err
	}
	if dialect == "postgres" {
		if err := w.createDatabase(ctx, o.postgres); err != nil {
			return nil, err
		}
	}
	e, closeEngine, err := w.engine(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeEngine()) }()
	if _, err := e.Store.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := w.Main.create(ctx, e); err != nil {
		return nil, err
	}
	for i := range w.Others {
		if err := w.Others[i].create(ctx, e); err != nil {
			return nil, err
		}
	}
	if err := w.Main.seed(ctx, e.Store, o.rows); err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	if dialect == "postgres" { // autovacuum would run only a minute later
		_, err = e.Store.Pool().Exec(ctx, "VACUUM ANALYZE requests")
	}
	return w, err
}

// createDatabase creates a database on the cluster.
func (w *world) createDatabase(ctx context.Context, cluster string) error {
	if cluster == "" {
		return errors.New("no cluster: `make bench` starts one; else set ATRIUM_TEST_POSTGRES_URL or -postgres")
	}
	u, err := url.Parse(cluster)
	if err != nil {
		return errors.New("the cluster's URL cannot be parsed") // the error would repeat the password
	}
	conn, err := pgx.Connect(ctx, cluster)
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	name := "bench_" + strings.ToLower(rand.Text()[:10])
	w.drop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		return errors.Join(err, conn.Close(ctx))
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	const settings = "SELECT format('PostgreSQL %s, fsync=%s, synchronous_commit=%s', current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'))"
	if err := conn.QueryRow(ctx, settings).Scan(&w.settings); err != nil {
		return fmt.Errorf("read the cluster's settings: %w", err)
	}
	u.Path = "/" + name
	w.DatabaseURL = u.String()
	return nil
}

// engine returns an operation engine wired as the command wires it, and a function that closes it.
func (w *world) engine(ctx context.Context) (*op.Engine, func() error, error) {
	s, err := store.Open(ctx, store.Options{DataDir: w.Dir, DatabaseURL: w.DatabaseURL})
	if err != nil {
		return nil, nil, err
	}
	decider, err := authz.New(ctx, authz.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	sealer, err := seal.Open(ctx, seal.Source{File: filepath.Join(w.Dir, "master.key")})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	return &op.Engine{Store: s, Authz: decider, Sealer: sealer, Log: log}, func() error {
		sealer.Close()
		return s.Close()
	}, nil
}

// sameRows does one create on each server and returns a line with the number of rows that each wrote to each table.
func (w *world) sameRows(ctx context.Context, product, floor *server) (string, error) {
	e, closeEngine, err := w.engine(ctx)
	if err != nil {
		return "", err
	}
	defer closeEngine() //nolint:errcheck // only read
	ctx = principal.System(ctx, "the bench counts rows")
	count := func() (n [5]int, err error) {
		r := e.Store.Reader()
		for i, one := range []func(context.Context) (int, error){
			r.Request.Query().Count, r.Event.Query().Count, r.AuditEntry.Query().Count, r.AccessDecision.Query().Count, r.WebhookDelivery.Query().Count,
		} {
			if n[i], err = one(ctx); err != nil {
				return n, fmt.Errorf("count rows: %w", err)
			}
		}
		return n, nil
	}
	out := "rows per create (request, event, audit entry, decision, delivery):"
	s := w.Main.Services[0]
	create := request(&w.Main, "POST", "/v1/requests", createBody(s.ID, s.Formed, formFields))
	for _, srv := range []*server{product, floor} {
		before, err := count()
		if err != nil {
			return "", err
		}
		l, err := dial(ctx, w, srv, 1)
		if err != nil {
			return "", err
		}
		err = l.conns[0].call(create, 201, nil)
		l.close()
		if err != nil {
			return "", err
		}
		after, err := count()
		if err != nil {
			return "", err
		}
		for i := range after {
			after[i] -= before[i]
		}
		out += fmt.Sprintf(" %s %v", srv.name, after)
	}
	return out, nil
}

func (w *world) close() error { return errors.Join(w.drop(), os.RemoveAll(w.Dir)) }

// create makes the company with its services and offerings, and raises its rate limits so that none applies.
func (t *tenant) create(ctx context.Context, e *op.Engine) error {
	made, err := company.Create(ctx, e.Store, company.CreateInput{
		Name: "Bench", Plan: "enterprise", OwnerEmail: strings.ToLower(rand.Text()[:12]) + "@bench.test", OwnerName: "Bench Owner",
		RedirectURI: "http://127.0.0.1/callback",
	})
	if err != nil {
		return err
	}
	t.CompanyID, t.OwnerID, t.Key = made.Company.ID, made.Owner.ID, made.LiveKey
	const unlimited = 1_000_000_000
	err = e.Store.Write(principal.System(ctx, "the bench measures, it does not wait for rate limits"), func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.UpdateOneID(t.CompanyID).SetRatePerMinute(unlimited).SetRatePerDay(unlimited).
			SetBytesPerMinute(unlimited * ratelimit.MB).SetBytesPerDay(unlimited * ratelimit.MB).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("lift the rate limits: %w", err)
	}
	ctx = t.asOwner(ctx)
	for i := range servicesPerCompany {
		s, _, err := op.Run(ctx, e, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprintf("Service %d", i)}, nil)
		if err != nil {
			return err
		}
		plain, _, err := op.Run(ctx, e, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Plain"}, nil)
		if err != nil {
			return err
		}
		formed, _, err := op.Run(ctx, e, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "With a form", Form: fiveFields}, nil)
		if err != nil {
			return err
		}
		t.Services = append(t.Services, service{ID: s.ID, Plain: plain.ID, Formed: formed.ID})
	}
	return nil
}

// asOwner returns a context in which the company's owner acts.
func (t *tenant) asOwner(ctx context.Context) context.Context {
	return principal.With(ctx, &principal.Principal{
		CompanyID: t.CompanyID, Type: principal.TypeUser, ID: t.OwnerID, Name: "Bench Owner", Role: principal.Owner, Scopes: principal.AllScopes, Method: principal.MethodLocal,
	})
}

// fiveFields is a typical form; formFields is an answer to it.
var fiveFields = &form.Definition{Fields: []form.Field{
	{Key: "model", Label: "Model", Type: form.Select, Required: true, Options: []string{"13 inch", "14 inch", "16 inch"}},
	{Key: "reason", Label: "Why do you need it?", Type: form.TextArea, Required: true},
	{Key: "quantity", Label: "How many?", Type: form.Number, Min: new(form.Bound("1")), Max: new(form.Bound("100"))},
	{Key: "needed", Label: "By when?", Type: form.Date},
	{Key: "contact", Label: "Whom to ask", Type: form.Email},
}}

const formFields = `{"model":"14 inch","reason":"The new colleague starts on Monday and has nothing to work on.","quantity":2,"needed":"2026-12-01","contact":"office@example.com"}`
