package testkit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const postgresVariable = "ATRIUM_TEST_POSTGRES_URL"

// adminTimeout limits one statement on the cluster. It is far more than any of them takes, so that a busy cluster does not fail
// tests.
const adminTimeout = time.Minute

// PostgresURL returns the URL of an empty database for this test alone. The database is dropped, with all its connections, when
// the test and its subtests are done. The test fails when there is no cluster.
func PostgresURL(tb testing.TB) string {
	tb.Helper()
	return clone(tb, cluster(tb), "")
}

// PostgresTemplate returns the URL of a database for this test alone that starts as a copy of what prepare made. prepare is
// called once per cluster and name, with the URL of an empty database; it must have closed its connections when it returns. All
// processes of a run share its result, and a cluster may outlive the run: a name must stand for one content, so put a hash of what
// prepare depends on into it. If prepare fails, every test of the process that uses the name fails.
//
// A copy costs a fraction of a migration: migrate in prepare, and let each test have its own copy.
func PostgresTemplate(tb testing.TB, name string, prepare func(url string) error) string {
	tb.Helper()
	admin := cluster(tb)
	tpl := templates.named(name)
	tpl.once.Do(func() {
		// This error remains if prepare exits through tb.FailNow or a panic, and fails the later tests.
		tpl.err = errors.New("an earlier test did not finish preparing it")
		tpl.err = tpl.make(admin, name, prepare)
	})
	if tpl.err != nil {
		tb.Fatalf("postgres template %q: %v", name, tpl.err)
	}
	return clone(tb, admin, tpl.database)
}

// DropTemplate drops what PostgresTemplate has prepared in this process, for a content that ends with the process.
func DropTemplate(name string) error {
	tpl := templates.named(name)
	if tpl.database == "" {
		return nil
	}
	admin, err := url.Parse(os.Getenv(postgresVariable))
	if err != nil {
		return errors.New(postgresVariable + " is not a URL")
	}
	return drop(admin, pgx.Identifier{tpl.database}.Sanitize())
}

// templates are the prepared databases that this process knows, by name. They stay until the cluster is deleted.
var templates registry

type registry struct {
	mu     sync.Mutex
	byName map[string]*template
}

func (r *registry) named(name string) *template {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*template{}
	}
	if r.byName[name] == nil {
		r.byName[name] = &template{}
	}
	return r.byName[name]
}

type template struct {
	once     sync.Once
	database string
	err      error
}

// make sets the template's database, which it prepares unless another process of the cluster has done so. The lock makes the others
// wait meanwhile. A database that still takes connections was left half prepared by a process that died.
func (t *template) make(admin *url.URL, name string, prepare func(url string) error) error {
	sum := sha256.Sum256([]byte(name))
	database := fmt.Sprintf("template_%x", sum[:12])
	quoted := pgx.Identifier{database}.Sanitize()
	err := connected(admin.String(), func(ctx context.Context, conn *pgx.Conn) error {
		// The session holds the lock, so it ends with the connection.
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", database); err != nil {
			return err
		}
		var prepared bool
		err := conn.QueryRow(ctx, "SELECT NOT datallowconn FROM pg_database WHERE datname = $1", database).Scan(&prepared)
		if prepared || err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		for _, statement := range []string{"DROP DATABASE IF EXISTS " + quoted + " WITH (FORCE)", "CREATE DATABASE " + quoted} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if err := prepare(withDatabase(admin, database)); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		// A database with open connections cannot be copied, so refuse new ones from here on.
		_, err = conn.Exec(ctx, "ALTER DATABASE "+quoted+" ALLOW_CONNECTIONS false")
		return err
	})
	t.database = database
	return err
}

// clone creates a database, from template unless that is empty, and drops it at the end of the test.
func clone(tb testing.TB, admin *url.URL, template string) string {
	tb.Helper()
	name := databaseName("test", tb.Name())
	quoted := pgx.Identifier{name}.Sanitize()
	// Copying files takes half the time of the default strategy, which writes every block to the log.
	create := "CREATE DATABASE " + quoted + " STRATEGY file_copy"
	if template != "" {
		create += " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	}
	if err := execute(admin, create); err != nil {
		tb.Fatalf("create the test's database: %v", err)
	}
	tb.Cleanup(func() {
		if err := drop(admin, quoted); err != nil {
			tb.Errorf("drop the test's database: %v", err)
		}
	})
	return withDatabase(admin, name)
}

// drop drops a database with all its connections. PostgreSQL refuses while a vacuum worker is connected, which only a superuser
// may end; the worker is gone after a moment, so drop retries.
func drop(admin *url.URL, quoted string) error {
	for try := 0; ; try++ {
		err := execute(admin, "DROP DATABASE "+quoted+" WITH (FORCE)")
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pgErr.Code != "42501" || try == 100 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// cluster returns the URL of the cluster. Its role may create databases.
func cluster(tb testing.TB) *url.URL {
	tb.Helper()
	value := os.Getenv(postgresVariable)
	if value == "" {
		tb.Fatalf("%s is not set: `make test` starts a PostgreSQL cluster and sets it, also for a single package (make test PKG=./internal/desk/request).", postgresVariable)
	}
	u, err := url.Parse(value)
	if err != nil {
		tb.Fatalf("%s is not a URL.", postgresVariable) // the error would repeat the URL with its password
	}
	if err := refuseSuperuser(value); err != nil {
		tb.Fatalf("%s: %v", postgresVariable, err)
	}
	return u
}

// refuseSuperuser fails for a role that bypasses row-level security: tenancy tests would pass on it whatever the policies are. It
// asks once per address, since every database of a test needs the answer.
func refuseSuperuser(address string) error {
	check, _ := superuserChecks.LoadOrStore(address, sync.OnceValue(func() error {
		var unbound bool
		err := connected(address, func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, `SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user`).Scan(&unbound)
		})
		if err == nil && unbound {
			return errors.New("its role bypasses row-level security; tests need one that does not (NOSUPERUSER NOBYPASSRLS CREATEDB)")
		}
		return err
	}))
	return check.(func() error)()
}

var superuserChecks sync.Map // address → func() error

func execute(admin *url.URL, statement string) error {
	return connected(admin.String(), func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
}

// connected runs do on a new connection. It uses no pool: the pool's goroutines would outlive the test that made it, and every
// leak check would report them.
func connected(address string, do func(context.Context, *pgx.Conn) error) error {
	// Not the test's context: that one is cancelled before the cleanups run.
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// databaseName returns an unused name of at most 63 bytes, PostgreSQL's limit. The readable part shows whose database it is. The
// random part makes it unique, also among the processes of one run and of earlier runs on a cluster that was kept.
func databaseName(kind, owner string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, owner)
	readable = readable[:min(len(readable), 30)]
	return fmt.Sprintf("%s_%d_%s_%s", kind, os.Getpid(), readable, strings.ToLower(rand.Text()[:8]))
}

func withDatabase(cluster *url.URL, database string) string {
	u := *cluster
	u.Path = "/" + database
	return u.String()
}
