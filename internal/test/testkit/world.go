package testkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/identity/password"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
	"atrium/internal/webhook"
	"atrium/internal/workflow/execution"
)

// The URLs that tests' tokens name.
const (
	BaseURL = "https://atrium.test"
	AuthURL = "https://atrium.test"
)

// World is a migrated database with two companies that have the same names and slugs, and an engine that runs operations on it.
type World struct {
	Engine *op.Engine
	Store  *store.Store
	Queue  *jobs.Queue // inserts jobs
	Clock  *clock.Clock
	Tokens *identity.Tokens
	A, B   *Tenant

	options store.Options
}

// Node returns the world as another process sees it, with a store and an engine of its own. The store is closed when the test ends.
func (w *World) Node(tb testing.TB) *World {
	tb.Helper()
	s, err := store.Open(context.Background(), w.options)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	decider, err := authz.New(context.Background(), authz.Options{})
	require.NoError(tb, err)
	node, engine := *w, w.Engine
	node.Store = s
	node.Engine = &op.Engine{Store: s, Authz: decider, Sealer: engine.Sealer, Queue: engine.Queue, Events: engine.Events, Log: engine.Log}
	return &node
}

// Tenant is a company with one user of each role.
type Tenant struct {
	*company.Created
	Users map[principal.Role]*ent.User // live users
}

// Each runs fn with a world on SQLite and another on PostgreSQL, in parallel. Without a PostgreSQL cluster the test fails: it is
// never skipped.
func Each(t *testing.T, fn func(t *testing.T, w *World)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, SQLiteWorld(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, PostgresWorld(t))
	})
}

// EachBench runs fn with a world on SQLite, and then with another on PostgreSQL.
func EachBench(b *testing.B, fn func(b *testing.B, w *World)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, SQLiteWorld(b)) })
	b.Run("postgres", func(b *testing.B) { fn(b, PostgresWorld(b)) })
}

// SQLiteWorld returns a world on a fresh SQLite file.
func SQLiteWorld(tb testing.TB) *World {
	tb.Helper()
	dir := tb.TempDir()
	template, err := sqliteTemplate()
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "atrium.db"), template, 0o600))
	return open(tb, store.Options{DataDir: dir})
}

// PostgresWorld returns a world in a fresh PostgreSQL database.
func PostgresWorld(tb testing.TB) *World {
	tb.Helper()
	return open(tb, store.Options{DatabaseURL: PostgresTemplate(tb, "world "+schemaSum(), migrated), MaxConns: 8})
}

// ReplicatedWorld returns a world on a PostgreSQL for this test alone. Its reads go to a replica while that keeps up.
func ReplicatedWorld(tb testing.TB) (*World, *Replicated) {
	tb.Helper()
	r := NewReplicated(tb)
	require.NoError(tb, migrated(r.URL))
	w := open(tb, store.Options{DatabaseURL: r.URL, ReadURL: r.ReadURL, MaxConns: 8})
	ctx, cancel := context.WithCancel(context.Background())
	var followed sync.WaitGroup
	followed.Go(func() { _ = w.Store.FollowReplica(ctx, slog.New(slog.DiscardHandler)) })
	tb.Cleanup(func() {
		cancel()
		followed.Wait()
	})
	return w, r
}

// schemaSum identifies the schema that migrations make.
var schemaSum = sync.OnceValue(func() string {
	all := sha256.New()
	err := fs.WalkDir(store.Migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := store.Migrations.ReadFile(path)
		_, _ = fmt.Fprintf(all, "%s %d\n%s", path, len(b), b) // a hash takes everything
		return err
	})
	if err != nil {
		panic(err) // the files are in the binary
	}
	return hex.EncodeToString(all.Sum(nil))
})

// sqliteTemplate returns the file of an empty, migrated database. It is made once per process, or once per run where
// ATRIUM_TEST_TEMPLATES names a folder that the run's processes share. When several make it at once, each uses its own.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	shared := os.Getenv("ATRIUM_TEST_TEMPLATES")
	if shared == "" {
		return migratedFile()
	}
	path := filepath.Join(shared, schemaSum()+".db")
	if file, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	file, err := migratedFile()
	if err != nil {
		return nil, err
	}
	own := fmt.Sprintf("%s.%d", path, os.Getpid())
	return file, errors.Join(os.WriteFile(own, file, 0o600), os.Rename(own, path))
})

// migratedFile returns the file of an empty, migrated database that it makes.
func migratedFile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "atrium-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{DataDir: dir})
	if err != nil {
		return nil, err
	}
	if _, err := s.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "atrium.db")
	db, err := store.OpenSQLiteFile(path)
	if err != nil {
		return nil, err
	}
	// All data must be in the one file that is copied, not in the write-ahead log.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// migrated migrates the database at url.
func migrated(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{DatabaseURL: url})
	if err != nil {
		return err
	}
	if _, err := s.Migrate(ctx); err != nil {
		return err
	}
	return s.Close()
}

// Hasher hashes the passwords of tests, as the product does but cheaply: at its 64 MiB a hash they took half of the suite's CPU time.
// It is one for all tests of a package, so its work is bounded over all of them.
var Hasher = password.New(password.Options{Workers: 2, Queue: 1000, Wait: time.Minute, Memory: 64})

// masterKey is shared by all tests of a process.
var masterKey = sync.OnceValues(func() (*seal.Sealer, error) {
	dir, err := os.MkdirTemp("", "atrium-master-key")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	path := filepath.Join(dir, "master.key")
	if err := seal.CreateFile(path); err != nil {
		return nil, err
	}
	return seal.Open(context.Background(), seal.Source{File: path})
})

func open(tb testing.TB, o store.Options) *World {
	tb.Helper()
	ctx := context.Background()
	w := &World{Clock: &clock.Clock{}}
	o.Clock = w.Clock
	w.options = o
	s, err := store.Open(ctx, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	decider, err := authz.New(ctx, authz.Options{})
	require.NoError(tb, err)
	sealer, err := masterKey()
	require.NoError(tb, err)
	w.Store = s
	w.Engine = &op.Engine{Store: s, Authz: decider, Sealer: sealer, Log: slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	w.Queue, err = jobs.New(s, slog.New(slog.DiscardHandler), false)
	require.NoError(tb, err)
	w.Engine.Queue, w.Engine.Events = w.Queue, events.Subscribers{webhook.Deliver(w.Queue, w.Engine), execution.Follow(w.Queue), notice.Follow(w.Queue)}
	w.Tokens = identity.NewTokens(identity.NewKeys(s, sealer), AuthURL, BaseURL, w.Clock.Now)
	w.A, w.B = w.tenant(tb, "owner@a.test"), w.tenant(tb, "owner@b.test")
	return w
}

// tenant creates a company with the same name as the others, with one user of each role.
func (w *World) tenant(tb testing.TB, ownerEmail string) *Tenant {
	tb.Helper()
	ctx := context.Background()
	created, err := company.Create(ctx, w.Store, company.CreateInput{
		Name: "Acme", Plan: "enterprise", OwnerEmail: ownerEmail, RedirectURI: "http://127.0.0.1/callback", Hasher: Hasher,
	})
	require.NoError(tb, err)
	t := &Tenant{Created: created, Users: map[principal.Role]*ent.User{principal.Owner: created.Owner}}
	for _, role := range []principal.Role{principal.Admin, principal.Agent, principal.Member} {
		t.Users[role] = w.AddUser(tb, t, string(role)+"-"+ownerEmail, role)
	}
	return t
}

// AddUser adds an active user to a tenant.
func (w *World) AddUser(tb testing.TB, t *Tenant, email string, role principal.Role) *ent.User {
	tb.Helper()
	var u *ent.User
	err := w.Store.Write(principal.System(context.Background(), "test fixture"), func(ctx context.Context, tx *store.Tx) error {
		acc, err := tx.Account.Create().SetEmail(email).Save(ctx)
		if err != nil {
			return err
		}
		u, err = tx.User.Create().SetCompanyID(t.Company.ID).SetAccountID(acc.ID).SetEmail(email).SetName(email).
			SetRole(user.Role(role)).SetAcceptedAt(w.Clock.Now()).Save(ctx)
		return err
	})
	require.NoError(tb, err)
	return u
}

// As returns a context whose caller is the tenant's user with the role, signed in, with all scopes.
func (w *World) As(t *Tenant, role principal.Role) context.Context {
	return w.AsUser(t.Users[role])
}

// AsUser returns a context whose caller is the user, signed in just now, with all scopes.
func (w *World) AsUser(u *ent.User) context.Context {
	return principal.With(context.Background(), &principal.Principal{
		CompanyID: u.CompanyID, Type: principal.TypeUser, ID: u.ID, Name: u.Name, Email: u.Email,
		Role: principal.Role(u.Role), Scopes: principal.AllScopes, Method: principal.MethodSession, RequestID: "rid_test",
		AuthenticatedAt: w.Clock.Now(),
	})
}

// Run runs an operation and fails the test if it returns an error.
func Run[In, Out any](tb testing.TB, w *World, ctx context.Context, o *op.Operation[In, Out], in In) Out {
	tb.Helper()
	out, _, err := op.Run(ctx, w.Engine, o, in, nil)
	require.NoError(tb, err)
	return out
}

// Refused runs an operation that must fail with the code, and returns its error.
func Refused[In, Out any](tb testing.TB, w *World, ctx context.Context, o *op.Operation[In, Out], in In, code apperr.Code, about ...any) *apperr.Error {
	tb.Helper()
	_, _, err := op.Run(ctx, w.Engine, o, in, nil)
	require.Error(tb, err, about...)
	refusal := apperr.From(err)
	require.Equal(tb, code, refusal.Code, about...)
	return refusal
}
