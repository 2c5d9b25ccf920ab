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
	"atrium/internal/catalog"
	"atrium/internal/company"
	"atrium/internal/form"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/seal"
	"atrium/internal/store"
	"atrium/internal/tlsfront"
)

// tenant is a company that load is put on.
type tenant struct {
	CompanyID string
	OwnerID   string
	OwnerName string
	Key       string
	Services  []service
	sample    []string // ids of some seeded requests
}

// service is a service with an offering that has no form and one that has five fields.
type service struct{ ID, Plain, Formed string }

// world is a migrated database of its own with three companies. What is exported the child processes read.
type world struct {
	Dialect     string
	Dir         string // master key, TLS files, SQLite's file
	DatabaseURL string // PostgreSQL
	CA          string
	Cert, Key   string // TLS
	Main        tenant // product against floor
	Big, Small  tenant // one company with very many requests, one with few

	keep     bool
	rowsNote string // what sameRows found
	settings string // of the database, as the report shows them
	drop     func() error
}

// servicesPerCompany is over how many services the requests of a company spread.
const servicesPerCompany = 10

func newWorld(ctx context.Context, o options, dialect string) (w *world, err error) {
	w = &world{Dialect: dialect, keep: o.keep, drop: func() error { return nil }}
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
	w.settings = "WAL, synchronous=FULL"
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
	for _, t := range []*tenant{&w.Main, &w.Big, &w.Small} {
		if err := t.create(ctx, e); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// createDatabase makes a database on the cluster.
func (w *world) createDatabase(ctx context.Context, cluster string) error {
	if cluster == "" {
		return errors.New("no cluster: `make bench` starts one; else set ATRIUM_TEST_POSTGRES_URL or -postgres")
	}
	u, err := url.Parse(cluster)
	if err != nil {
		return errors.New("the cluster's URL cannot be parsed") // the error would repeat the password
	}
	name := "bench_" + strings.ToLower(rand.Text()[:10])
	admin := func(ctx context.Context, statement string, into ...any) error {
		conn, err := pgx.Connect(ctx, cluster)
		if err != nil {
			return fmt.Errorf("connect to the cluster: %w", err)
		}
		defer conn.Close(ctx) //nolint:errcheck // nothing is pending
		if len(into) > 0 {
			return conn.QueryRow(ctx, statement).Scan(into...)
		}
		_, err = conn.Exec(ctx, statement)
		return err
	}
	if err := admin(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	w.drop = func() error {
		dctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return admin(dctx, "DROP DATABASE "+name+" WITH (FORCE)")
	}
	var fsync, commit, version string
	if err := admin(ctx, "SELECT current_setting('fsync'), current_setting('synchronous_commit'), current_setting('server_version')", &fsync, &commit, &version); err != nil {
		return fmt.Errorf("read the cluster's settings: %w", err)
	}
	w.settings = fmt.Sprintf("PostgreSQL %s, fsync=%s, synchronous_commit=%s", version, fsync, commit)
	u.Path = "/" + name
	w.DatabaseURL = u.String()
	return nil
}

// engine opens what operations run on, wired as the command does it.
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

func (w *world) close() error {
	if w.keep {
		progress("kept: %s %s", w.Dir, w.DatabaseURL)
		return nil
	}
	return errors.Join(w.drop(), os.RemoveAll(w.Dir))
}

// create makes the company with services and offerings, and lifts its rate limits.
func (t *tenant) create(ctx context.Context, e *op.Engine) error {
	made, err := company.Create(ctx, e.Store, company.CreateInput{
		Name: "Bench", Plan: "enterprise", OwnerEmail: strings.ToLower(rand.Text()[:12]) + "@bench.test", OwnerName: "Bench Owner",
		RedirectURI: "http://127.0.0.1/callback",
	})
	if err != nil {
		return err
	}
	t.CompanyID, t.OwnerID, t.OwnerName, t.Key = made.Company.ID, made.Owner.ID, made.Owner.Name, made.LiveKey
	const unlimited = 1_000_000_000
	err = e.Store.Write(principal.System(ctx, "the bench measures, it does not wait for rate limits"), func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.UpdateOneID(t.CompanyID).SetRatePerMinute(unlimited).SetRatePerDay(unlimited).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("lift the rate limits: %w", err)
	}
	ctx = principal.With(ctx, &principal.Principal{
		CompanyID: t.CompanyID, Type: principal.TypeUser, ID: t.OwnerID, Name: t.OwnerName, Email: made.Owner.Email,
		Role: principal.Owner, Scopes: principal.AllScopes, Method: principal.MethodLocal,
	})
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

// fiveFields is an everyday form; formFields answers it.
var fiveFields = &form.Definition{Fields: []form.Field{
	{Key: "model", Label: "Model", Type: form.Select, Required: true, Options: []string{"13 inch", "14 inch", "16 inch"}},
	{Key: "reason", Label: "Why do you need it?", Type: form.TextArea, Required: true},
	{Key: "quantity", Label: "How many?", Type: form.Number, Min: new(1.0), Max: new(100.0)},
	{Key: "needed", Label: "By when?", Type: form.Date},
	{Key: "contact", Label: "Whom to ask", Type: form.Email},
}}

const formFields = `{"model":"14 inch","reason":"The new colleague starts on Monday and has nothing to work on.","quantity":2,"needed":"2026-12-01","contact":"office@example.com"}`
