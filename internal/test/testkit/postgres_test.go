package testkit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(tb testing.TB, address string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, conn.Close(context.Background())) })
	return conn
}

func one[T any](tb testing.TB, conn *pgx.Conn, query string, args ...any) (value T) {
	tb.Helper()
	require.NoError(tb, conn.QueryRow(tb.Context(), query, args...).Scan(&value), query)
	return value
}

// databaseOf returns the name of the database in a URL.
func databaseOf(tb testing.TB, address string) string {
	tb.Helper()
	u, err := url.Parse(address)
	require.NoError(tb, err)
	return strings.TrimPrefix(u.Path, "/")
}

// exists asks the cluster whether it has a database.
func exists(tb testing.TB, database string) bool {
	tb.Helper()
	conn := connect(tb, os.Getenv("ATRIUM_TEST_POSTGRES_URL"))
	return one[bool](tb, conn, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database)
}

func TestPostgresURLGivesEachCallADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	a, b := testkit.PostgresURL(t), testkit.PostgresURL(t)
	require.NotEqual(t, databaseOf(t, a), databaseOf(t, b))

	connA, connB := connect(t, a), connect(t, b)
	_, err := connA.Exec(t.Context(), `CREATE TABLE mark (n int)`)
	require.NoError(t, err)
	require.Zero(t, one[int](t, connB, `SELECT count(*) FROM pg_tables WHERE tablename = 'mark'`))
}

func TestPostgresURLServerIsTheOneProductionNeeds(t *testing.T) {
	t.Parallel()
	conn := connect(t, testkit.PostgresURL(t))
	require.GreaterOrEqual(t, one[int](t, conn, `SELECT current_setting('server_version_num')::int`), 150000)
	require.Equal(t, "UTF8", one[string](t, conn, `SHOW server_encoding`))
}

func TestPostgresURLDropsTheDatabaseThoughSomeoneIsStillConnected(t *testing.T) {
	t.Parallel()
	var database string
	t.Run("inner", func(inner *testing.T) {
		address := testkit.PostgresURL(inner)
		database = databaseOf(t, address)
		left := connect(t, address) // belongs to the outer test: still open when the inner test ends
		require.Equal(t, database, one[string](t, left, `SELECT current_database()`))
		require.True(t, exists(t, database))
	})
	require.False(t, exists(t, database))
}

func TestPostgresURLNamesFitWhateverTheTestIsCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("long", 40), `quotes"and';--`, "ümläut/日本"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := testkit.PostgresURL(t)
			require.LessOrEqual(t, len(databaseOf(t, address)), 63)
			require.Equal(t, databaseOf(t, address), one[string](t, connect(t, address), `SELECT current_database()`))
		})
	}
}

func TestPostgresTemplatePreparesOnceAndCopiesForEach(t *testing.T) {
	t.Parallel()
	var prepared atomic.Int32
	prepare := func(address string) error {
		prepared.Add(1)
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, `CREATE TABLE mark (n int); INSERT INTO mark VALUES (1)`)
		return errors.Join(err, conn.Close(ctx))
	}
	name := rand.Text()
	addresses := make([]string, 8)
	var wg sync.WaitGroup
	for i := range addresses {
		wg.Go(func() { addresses[i] = testkit.PostgresTemplate(t, name, prepare) })
	}
	wg.Wait()
	require.EqualValues(t, 1, prepared.Load())

	for _, address := range addresses {
		require.NotEmpty(t, address)
		conn := connect(t, address)
		// The copy is complete, and no test sees what another writes.
		require.Equal(t, 1, one[int](t, conn, `SELECT count(*) FROM mark`))
		_, err := conn.Exec(t.Context(), `INSERT INTO mark VALUES (2)`)
		require.NoError(t, err)
	}
}

func TestPostgresTemplateThatCannotBePreparedFailsEveryTest(t *testing.T) {
	t.Parallel()
	calls, name := 0, rand.Text()
	broken := func(string) error {
		calls++
		return errors.New("migration 7 is broken")
	}
	for range 2 {
		message := failure(t, func(tb testing.TB) { testkit.PostgresTemplate(tb, name, broken) })
		require.Contains(t, message, name)
		require.Contains(t, message, "migration 7 is broken")
	}
	require.Equal(t, 1, calls)
}

func TestPostgresTemplateWhosePreparationNeverReturnedFailsTheTestsAfter(t *testing.T) {
	t.Parallel()
	name := rand.Text()
	leave := func(string) error {
		runtime.Goexit() // as a failed assertion inside prepare does
		return nil
	}
	require.Empty(t, failure(t, func(tb testing.TB) { testkit.PostgresTemplate(tb, name, leave) }))
	message := failure(t, func(tb testing.TB) { testkit.PostgresTemplate(tb, name, leave) })
	require.Contains(t, message, "did not finish")
}

func TestWithoutAClusterTheTestFailsAndSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct{ value, want, wantNot string }{
		"unset":       {value: "", want: "`make test` starts a PostgreSQL cluster"},
		"not a URL":   {value: "postgres://u:hunter2@\x7f/", want: "is not a URL", wantNot: "hunter2"},
		"nobody home": {value: "postgres://atrium@127.0.0.1:1/postgres?sslmode=disable", want: "ATRIUM_TEST_POSTGRES_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ATRIUM_TEST_POSTGRES_URL", c.value)
			message := failure(t, func(tb testing.TB) { testkit.PostgresURL(tb) })
			require.Contains(t, message, c.want)
			if c.wantNot != "" {
				require.NotContains(t, message, c.wantNot)
			}
		})
	}
}

// failure returns the message with which do fails its test, or "" if it does not.
func failure(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	spy := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(spy)
	}()
	<-done
	return spy.message
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }
