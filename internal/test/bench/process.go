package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a child process that answers HTTPS.
type server struct {
	name     string
	address  string // host:port
	profiles string // base URL of net/http/pprof; "-" for none
	pid      int
	stop     func() error
}

// startProduct starts the product's handler, or the binary that the flags name, with these flags besides its own.
func startProduct(ctx context.Context, o options, w *world, flags ...string) (*server, error) {
	if o.binary == "" {
		return startChild(ctx, w, "product")
	}
	args := []string{"serve", "--data", w.Dir, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--no-demo"}
	args = append(args, flags...)
	if w.DatabaseURL != "" {
		args = append(args, "--database-url", w.DatabaseURL)
	}
	return start(exec.CommandContext(ctx, o.binary, args...), "product")
}

// startChild starts this program as a child process with a role (product or floor).
func startChild(ctx context.Context, w *world, role string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the bench's own file: %w", err)
	}
	conf, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("write the world: %w", err)
	}
	return start(exec.CommandContext(ctx, self, "-role", role, string(conf)), role)
}

// start runs cmd until it prints "ready https://host:port [profiles]".
func start(cmd *exec.Cmd, name string) (*server, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	s := &server{name: name, pid: cmd.Process.Pid, profiles: "-"}
	s.stop = func() error {
		_ = in.Close()
		_ = cmd.Process.Signal(os.Interrupt) // for the binary, which does not read stdin
		late := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil && !interrupted(err) {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) > 1 && words[0] == "ready" {
			s.address = strings.TrimPrefix(words[1], "https://")
			if len(words) > 2 {
				s.profiles = words[2]
			}
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return s, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s ended before it was ready", name), s.stop())
}

func interrupted(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && !exit.Exited() // by our own signal
}

// cpuTime returns a process's user and system CPU time; 0 on systems without /proc.
func cpuTime(pid int) time.Duration {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * (time.Second / 100)
}

// residentMiB returns a line of /proc/PID/status ("VmRSS", "VmHWM") in MiB; 0 on systems without /proc.
func residentMiB(pid int, line string) float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for l := range strings.SplitSeq(string(b), "\n") {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kib / 1024
		}
	}
	return 0
}

// backends sums the CPU time of PostgreSQL's processes that serve the world's database. It returns 0 on SQLite, where the server
// does that work itself, and when the cluster is on another machine.
func (w *world) backends(ctx context.Context) time.Duration {
	if w.DatabaseURL == "" {
		return 0
	}
	conn, err := pgx.Connect(ctx, w.DatabaseURL)
	if err != nil {
		return 0
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is pending
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		return 0
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, pid := range pids {
		sum += cpuTime(int(pid))
	}
	return sum
}

// profile loads the product once more with a workload while the product records a CPU profile.
func profile(ctx context.Context, o options, w *world, wl workload, product *server) error {
	name := fmt.Sprintf("%s.%s.%s", o.profile, w.Dialect, wl.name)
	seconds := max(8, int(o.slice.Seconds()*4))
	l, err := dial(ctx, w, product, connections)
	if err != nil {
		return err
	}
	defer l.close()
	fetched := make(chan error, 1)
	go func() {
		fetched <- func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", product.profiles, seconds), nil)
			if err != nil {
				return err
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			f, err := os.Create(name)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, res.Body)
			return errors.Join(err, f.Close())
		}()
	}()
	_, err = l.slice(wl.requests[0], wl.status, time.Duration(seconds)*time.Second+200*time.Millisecond)
	if err := errors.Join(err, <-fetched); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	progress("profile: %s", name)
	return nil
}
