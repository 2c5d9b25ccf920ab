package main_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/test/testkit"
)

// program is the path of the binary, which all tests of the package run as a child process.
var program string

func TestMain(m *testing.M) {
	parent := os.Getppid()
	dir, err := os.MkdirTemp("", "atrium-cli")
	if err = errors.Join(err, os.Setenv("AWS_ACCESS_KEY_ID", bucketKey), os.Setenv("AWS_SECRET_ACCESS_KEY", bucketKey)); err == nil {
		program = filepath.Join(dir, "atrium")
		var out []byte
		if out, err = exec.Command("go", "build", "-ldflags=-w", "-o", program, ".").CombinedOutput(); err != nil {
			err = fmt.Errorf("build the binary: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = othersAreDone(parent)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := errors.Join(testkit.DropTemplate(preparedName()), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// othersAreDone waits for the file that ATRIUM_TEST_AFTER names, if it names one: .ci/test.sh links these tests beside those of the other
// packages, and has them begin after those. It gives up when its parent process has ended.
func othersAreDone(parent int) error {
	for after := os.Getenv("ATRIUM_TEST_AFTER"); after != ""; {
		if _, err := os.Stat(after); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if os.Getppid() != parent {
			return errors.New("nobody waits for these tests any more")
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// patience limits every wait. What is waited for takes far less.
const patience = 60 * time.Second

// place is a data folder of the test with a database: SQLite in the folder, or PostgreSQL.
type place struct {
	t    testing.TB
	data string
	url  string // empty for SQLite

	release   string // binary of another release; "" for the one under test
	bucketURL string // of attached files; empty for a folder
}

// each runs fn on SQLite and on PostgreSQL, in parallel.
func each(t *testing.T, fn func(t *testing.T, p place)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, onSQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, onPostgres(t))
	})
}

func onSQLite(t testing.TB) place { return place{t: t, data: filepath.Join(t.TempDir(), "data")} }

func onPostgres(t testing.TB) place {
	p := onSQLite(t)
	p.url = testkit.PostgresURL(t)
	return p
}

// command returns a command of the binary for the place. Arguments of the form NAME=value become environment variables.
func (p place) command(args ...string) *exec.Cmd {
	env := []string{"PATH=" + os.Getenv("PATH"), "ATRIUM_DATA=" + p.data}
	if p.url != "" {
		env = append(env, "ATRIUM_DATABASE_URL="+p.url)
	}
	if p.url != "" && p.bucketURL == "" {
		env = append(env, "ATRIUM_FILES_DIR="+filepath.Join(p.data, "files")) // which several nodes share
	}
	if p.bucketURL != "" {
		env = append(env, "ATRIUM_FILES_URL="+p.bucketURL, "AWS_ACCESS_KEY_ID="+bucketKey, "AWS_SECRET_ACCESS_KEY="+bucketKey)
	}
	for len(args) > 0 && strings.Contains(args[0], "=") && !strings.HasPrefix(args[0], "-") {
		env, args = append(env, args[0]), args[1:]
	}
	cmd := exec.Command(cmp.Or(p.release, program), args...)
	cmd.Env = env
	cmd.Dir = filepath.Dir(program)
	return cmd
}

// result is the outcome of a command.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a command to its end.
func (p place) run(args ...string) result {
	p.t.Helper()
	// A quarter of what a short command costs is collecting garbage.
	cmd := p.command(append([]string{"GOGC=off", "GOMEMLIMIT=1GiB"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(p.t, cmd.Start())
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	require.True(p.t, late.Stop(), "atrium %v does not end\n%s%s", args, &out, &errs)
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(p.t, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// ok runs a command that must succeed and returns its stdout.
func (p place) ok(args ...string) string {
	p.t.Helper()
	r := p.run(args...)
	require.Zero(p.t, r.code, "atrium %v\n%s%s", args, r.stdout, r.stderr)
	return r.stdout
}

// object runs a command with --json and returns its output.
func (p place) object(args ...string) map[string]any {
	p.t.Helper()
	return decode(p.t, p.ok(append(args, "--json")...))
}

// refused runs a command that must fail, with empty stdout and each of the words on stderr.
func (p place) refused(words []string, args ...string) {
	p.t.Helper()
	r := p.run(args...)
	require.Equal(p.t, 1, r.code, "atrium %v\n%s%s", args, r.stdout, r.stderr)
	require.Empty(p.t, r.stdout, "atrium %v", args)
	for _, word := range words {
		require.Contains(p.t, r.stderr, word, "atrium %v", args)
	}
	require.NotContains(p.t, r.stderr, "goroutine ", "atrium %v", args)
}

// decode decodes a string that must be exactly one JSON object.
func decode(t testing.TB, s string) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(s), &v), "%s", s)
	return v
}

// output collects what a process writes. Callers can wait for more.
type output struct {
	mu     sync.Mutex
	text   strings.Builder
	change chan struct{}
}

func newOutput() *output { return &output{change: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	close(o.change)
	o.change = make(chan struct{})
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// line returns the last complete line with the prefix, and a channel that is closed on more output.
func (o *output) line(prefix string) (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := ""
	for line := range strings.Lines(o.text.String()) {
		if strings.HasPrefix(line, prefix) && strings.HasSuffix(line, "\n") {
			found = strings.TrimSuffix(line, "\n")
		}
	}
	return found, o.change
}

// node is a running server.
type node struct {
	place
	cmd      *exec.Cmd
	out, err *output
	ended    chan struct{}
	base     string // https://…
	admin    string // http://…
}

// launch starts a server on free ports and does not wait for it.
func (p place) launch(args ...string) *node {
	p.t.Helper()
	n := &node{place: p, out: newOutput(), err: newOutput(), ended: make(chan struct{})}
	variables := 0
	for variables < len(args) && strings.Contains(args[variables], "=") && !strings.HasPrefix(args[variables], "-") {
		variables++
	}
	full := append(append([]string{}, args[:variables]...), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain", "0s")
	n.cmd = p.command(append(full, args[variables:]...)...)
	n.cmd.Stdout, n.cmd.Stderr = n.out, n.err
	require.NoError(p.t, n.cmd.Start())
	go func() {
		defer close(n.ended)
		_ = n.cmd.Wait() // the process state holds the result
	}()
	p.t.Cleanup(n.kill)
	return n
}

// serve starts a server and waits until it is ready.
func (p place) serve(args ...string) *node {
	p.t.Helper()
	n := p.launch(args...)
	n.awaitReady()
	return n
}

func (n *node) awaitReady() {
	n.t.Helper()
	_, n.base, _ = strings.Cut(n.await("ready "), " ")
	_, n.admin, _ = strings.Cut(n.await("admin "), " ")
}

// await waits for a line on stdout with the prefix and returns it.
func (n *node) await(prefix string) string {
	n.t.Helper()
	late := time.After(patience)
	for {
		line, more := n.out.line(prefix)
		if line != "" {
			return line
		}
		select {
		case <-more:
		case <-n.ended:
			if line, _ := n.out.line(prefix); line != "" {
				return line
			}
			require.FailNow(n.t, "the server ended", "%s\n%s", n.out, n.err)
		case <-late:
			require.FailNow(n.t, "the server does not print "+prefix, "%s\n%s", n.out, n.err)
		}
	}
}

// kill kills the process without a graceful stop.
func (n *node) kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// stop sends SIGTERM and returns the exit code.
func (n *node) stop() int {
	n.t.Helper()
	require.NoError(n.t, n.cmd.Process.Signal(syscall.SIGTERM))
	return n.wait()
}

// wait returns the exit code once the process has ended.
func (n *node) wait() int {
	n.t.Helper()
	select {
	case <-n.ended:
	case <-time.After(patience):
		require.FailNow(n.t, "the server does not end", "%s\n%s", n.out, n.err)
	}
	return n.cmd.ProcessState.ExitCode()
}

// freeAddress returns a loopback address that is not in use. Its port is below those that the system gives out, and is given once, so
// that no other listener gets it before its user listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(10_000))
		if _, given := addresses.LoadOrStore(address, true); given {
			continue
		}
		ln, err := net.Listen("tcp", address)
		if err == nil {
			require.NoError(t, ln.Close())
			return address
		}
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
}

var addresses sync.Map // that freeAddress has given

// client returns an HTTP client that trusts only the CA in the data folder.
func (p place) client() *http.Client {
	p.t.Helper()
	pem, err := os.ReadFile(filepath.Join(p.data, "ca.pem"))
	require.NoError(p.t, err)
	roots := x509.NewCertPool()
	require.True(p.t, roots.AppendCertsFromPEM(pem))
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	p.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

// answer is the response to a call.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes one call. secret is an API key or a bearer token; "" sends neither.
func send(c *http.Client, method, url, secret, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case strings.HasPrefix(secret, "key_"):
		req.Header.Set("X-Api-Key", secret)
	case secret != "":
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return answerTo(c, req)
}

// answerTo makes a call and reads its whole answer.
func answerTo(c *http.Client, req *http.Request) (answer, error) {
	res, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b)}, err
}

// call makes one call whose answer must have the status.
func (n *node) call(c *http.Client, status int, method, path, secret, body string, header ...string) answer {
	n.t.Helper()
	a, err := send(c, method, n.base+path, secret, body, header...)
	require.NoError(n.t, err)
	require.Equal(n.t, status, a.status, "%s %s: %s", method, path, a.body)
	return a
}
