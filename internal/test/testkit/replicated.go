package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Replicated is a PostgreSQL for this test alone, with a streaming replica.
type Replicated struct {
	URL, ReadURL string // URLs of one empty database, for a role that is bound by row-level security

	tb      testing.TB
	dir     string
	primary *postgres
	replica *postgres
}

// postgres is one server.
type postgres struct {
	port int
	cmd  *exec.Cmd
	gone chan struct{}
}

// NewReplicated starts both servers, which end with the test.
func NewReplicated(tb testing.TB) *Replicated {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "atrium-pg") // the length of a socket's path is limited, and another user must be able to reach it
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &Replicated{tb: tb, dir: dir}
	if as := r.as(); as.Credential != nil {
		require.NoError(tb, os.Chown(dir, int(as.Credential.Uid), int(as.Credential.Gid)))
	}
	r.run("initdb", "-D", "primary", "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
	r.primary = r.start("primary", 0)
	r.admin(r.primary, "CREATE ROLE atrium LOGIN NOSUPERUSER NOBYPASSRLS", "CREATE DATABASE test OWNER atrium")
	r.run("pg_basebackup", "-h", dir, "-p", strconv.Itoa(r.primary.port), "-U", "postgres", "-D", "replica", "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")
	r.replica = r.start("replica", 0)
	r.URL, r.ReadURL = r.primary.url("atrium"), r.replica.url("atrium")
	return r
}

// Pause stops the replica from replaying the log that it receives.
func (r *Replicated) Pause() { r.admin(r.replica, "SELECT pg_wal_replay_pause()") }

// Resume makes the replica replay again.
func (r *Replicated) Resume() { r.admin(r.replica, "SELECT pg_wal_replay_resume()") }

// Kill stops the replica immediately.
func (r *Replicated) Kill() { r.replica.kill() }

// Revive starts a replica that was killed.
func (r *Replicated) Revive() { r.replica = r.start("replica", r.replica.port) }

// Freeze suspends the replica's processes: it accepts connections and answers nothing.
func (r *Replicated) Freeze() { r.signal(syscall.SIGSTOP) }

// Thaw resumes a frozen replica.
func (r *Replicated) Thaw() { r.signal(syscall.SIGCONT) }

func (r *Replicated) signal(s syscall.Signal) {
	r.tb.Helper()
	require.NoError(r.tb, r.replica.cmd.Process.Signal(s)) // first, so that it starts no others
	for range 10 {                                         // a process that it was just starting may appear late
		for pid := range r.replica.children() {
			_ = syscall.Kill(pid, s) // it may have ended
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// PrimaryTime returns the CPU time of the primary's processes, with a resolution of 10 ms for each.
func (r *Replicated) PrimaryTime() time.Duration {
	var ticks int
	for _, stat := range r.primary.children() {
		for _, field := range stat[11:13] { // user and system time
			n, err := strconv.Atoi(field)
			require.NoError(r.tb, err)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// children returns the processes that a server has started, each with the fields of its /proc/PID/stat after the name (see
// proc(5)).
func (p *postgres) children() map[int][]string {
	parent, out := strconv.Itoa(p.cmd.Process.Pid), map[int][]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, name := range stats {
		text, err := os.ReadFile(name)
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); err == nil && len(fields) > 13 && fields[1] == parent {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			out[pid] = fields
		}
	}
	return out
}

func (p *postgres) url(role string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/test?sslmode=disable", role, p.port)
}

// kill ends a server and its child processes.
func (p *postgres) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // PostgreSQL's immediate shutdown
	select {
	case <-p.gone:
	case <-time.After(10 * time.Second): // the server is frozen
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// admin runs statements as the superuser, who connects through the socket.
func (r *Replicated) admin(p *postgres, statements ...string) {
	r.tb.Helper()
	address := fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", r.dir, p.port)
	err := connected(address, func(ctx context.Context, conn *pgx.Conn) error {
		for _, s := range statements {
			if _, err := conn.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	require.NoError(r.tb, err)
}

// start starts a server on a folder and waits until it answers. Port 0 means a free port.
func (r *Replicated) start(folder string, port int) *postgres {
	r.tb.Helper()
	p := &postgres{port: port, gone: make(chan struct{})}
	if port == 0 {
		free, err := freePort()
		require.NoError(r.tb, err)
		p.port = free
	}
	log, err := os.Create(filepath.Join(r.dir, folder+".log"))
	require.NoError(r.tb, err)
	defer log.Close() //nolint:errcheck // the child has its own
	p.cmd = r.program("postgres", "-D", folder, "-p", strconv.Itoa(p.port), "-k", r.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
		"-c", "shared_buffers=32MB", "-c", "max_connections=100", "-c", "timezone=UTC", "-c", "wal_level=replica")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	require.NoError(r.tb, p.cmd.Start())
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // only its end matters
	}()
	r.tb.Cleanup(p.kill)
	address := fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", r.dir, p.port)
	require.Eventually(r.tb, func() bool {
		return connected(address, func(context.Context, *pgx.Conn) error { return nil }) == nil
	}, adminTimeout, 20*time.Millisecond, "%s", folder)
	return p
}

func (r *Replicated) run(name string, args ...string) {
	r.tb.Helper()
	out, err := r.program(name, args...).CombinedOutput()
	require.NoError(r.tb, err, "%s: %s", name, out)
}

// program returns one of PostgreSQL's commands, to run in the folder of both servers.
func (r *Replicated) program(name string, args ...string) *exec.Cmd {
	r.tb.Helper()
	bin, err := programs()
	require.NoError(r.tb, err)
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = r.dir, r.as()
	return cmd
}

// programs returns the folder of the server programs. pg_config may come with the client library alone, so its folder is checked.
func programs() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if _, err := os.Stat(filepath.Join(dirs[i], "initdb")); err == nil {
			return dirs[i], nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server is installed in any of %v", dirs)
}

// as returns the user to run the servers as: PostgreSQL refuses root, and its package creates a user.
func (r *Replicated) as() *syscall.SysProcAttr {
	r.tb.Helper()
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}
	}
	owner, err := user.Lookup("postgres")
	require.NoError(r.tb, err)
	uid, err := strconv.ParseUint(owner.Uid, 10, 32)
	require.NoError(r.tb, err)
	gid, err := strconv.ParseUint(owner.Gid, 10, 32)
	require.NoError(r.tb, err)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
