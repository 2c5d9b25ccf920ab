package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit/receiver"
)

// BenchmarkCompanyExport measures how many rows a second `atrium company export` writes of a company with 300,000 requests, and the
// most memory that the command has, in MiB, with the pages of the executable (some 95).
func BenchmarkCompanyExport(b *testing.B) {
	eachBench(b, func(b *testing.B, p place) {
		n := p.serve()
		first := p.firstRun()
		p.seedRequests(n, first, 300_000)
		require.Zero(b, n.stop())
		words := filepath.Join(b.TempDir(), "passphrase")
		require.NoError(b, os.WriteFile(words, []byte("a towel, always\n"), 0o600))
		rows, peak := 0.0, 0.0
		for i := 0; b.Loop(); i++ {
			file := filepath.Join(b.TempDir(), fmt.Sprint("company", i))
			cmd := p.command("company", "export", "--company", first.Company.ID, "--to", file, "--passphrase-file", words, "--json")
			out, err := cmd.Output()
			require.NoError(b, err, "%s", out)
			made := decode(b, string(out))
			require.GreaterOrEqual(b, made["rows"], 300_000.0)
			rows += made["rows"].(float64)
			usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			require.True(b, ok)
			peak = max(peak, float64(usage.Maxrss)/1024)
		}
		b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
		b.ReportMetric(peak, "peak-MiB")
	})
}

// BenchmarkBackupUnderLoad measures how much `atrium backup` of a million requests slows their creation by two callers: the ratio
// of the creates a second during the backup to those before it, and how long the backup takes. The callers leave most of the
// processor free, as the users of a company of this size do.
func BenchmarkBackupUnderLoad(b *testing.B) {
	p := onSQLite(b)
	n := p.serve()
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "1000000", "--per-day", "100000000")
	p.seedRequests(n, first, 1_000_000)
	var ratios, took []float64
	for i := 0; b.Loop(); i++ {
		before := n.createUntil(first, time.After(10*time.Second))
		done := make(chan time.Time)
		began := time.Now()
		go func() {
			out, err := p.command("backup", "--to", filepath.Join(b.TempDir(), fmt.Sprint("backup", i))).CombinedOutput()
			if err != nil {
				b.Errorf("%v: %s", err, out)
			}
			close(done)
		}()
		during := n.createUntil(first, done)
		took, ratios = append(took, time.Since(began).Seconds()), append(ratios, during/before)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(ratios, 50), "ratio")
	b.ReportMetric(percentile(took, 50), "backup-s")
}

// BenchmarkFailover measures after how many seconds another node repeats a delivery whose node was killed in the middle of it.
func BenchmarkFailover(b *testing.B) {
	p := onPostgres(b)
	flags := deliveringFlags(b)
	n := p.serve(flags...)
	first := p.firstRun()
	var hangs atomic.Bool
	called := make(chan time.Time)
	r := receiver.New(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- time.Now()
		if hangs.Load() {
			<-r.Context().Done()
		}
	}))
	p.subscribe(first.Company.ID, r.URL)
	var took []float64
	for b.Loop() {
		hangs.Store(true)
		n.call(n.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop("Delivered twice"))
		<-called
		other := p.serve(flags...)
		hangs.Store(false)
		killed := time.Now()
		n.kill()
		took = append(took, (<-called).Sub(killed).Seconds())
		n = other
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(took, 50), "p50-s")
	b.ReportMetric(percentile(took, 100), "most-s")
}

// BenchmarkTwoNodes measures how many reads of a request two nodes on one PostgreSQL answer for each that one of them answers alone, in
// nine turns: the median, the least and the most. A quarter of a core for each node (cgroups, as root) leaves the database and the
// callers what they need.
func BenchmarkTwoNodes(b *testing.B) {
	p := onPostgres(b)
	nodes := []*node{p.serve(), p.serve()}
	for _, n := range nodes {
		n.slow(b, 25)
	}
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "1000000", "--per-day", "100000000")
	created := nodes[0].call(p.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop("Read often"))
	path := "/v1/requests/" + decode(b, created.body)["data"].(map[string]any)["id"].(string)
	readsBy := func(nodes ...*node) float64 {
		var read atomic.Int64
		var callers sync.WaitGroup
		ends := time.Now().Add(3 * time.Second)
		for _, n := range nodes {
			for range 4 {
				c := n.client()
				callers.Go(func() {
					for time.Now().Before(ends) {
						a, err := send(c, "GET", n.base+path, first.LiveKey, "")
						if err != nil || a.status != 200 {
							b.Errorf("%v %d %s", err, a.status, a.body)
							return
						}
						read.Add(1)
					}
				})
			}
		}
		callers.Wait()
		return float64(read.Load())
	}
	readsBy(nodes...) // the caches fill
	var alone, ratios []float64
	for b.Loop() {
		for range 9 {
			one := (readsBy(nodes[0]) + readsBy(nodes[1])) / 2
			alone, ratios = append(alone, one/3), append(ratios, readsBy(nodes...)/one)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(alone, 50), "alone/s")
	b.ReportMetric(percentile(ratios, 50), "ratio")
	b.ReportMetric(percentile(ratios, 0), "least")
	b.ReportMetric(percentile(ratios, 100), "most")
}

// slow limits the node to a percentage of one core, by a cgroup of its own.
func (n *node) slow(b *testing.B, percent int) {
	b.Helper()
	pid, dir := fmt.Sprint(n.cmd.Process.Pid), "/sys/fs/cgroup"
	file, limit := "cpu.max", fmt.Sprint(percent*1000, " 100000")
	if _, err := os.Stat(dir + "/cpu"); err == nil { // cgroups v1
		dir, file, limit = dir+"/cpu", "cpu.cfs_quota_us", fmt.Sprint(percent*1000)
	}
	dir = filepath.Join(dir, "atrium-"+pid)
	require.NoError(b, os.Mkdir(dir, 0o755))
	b.Cleanup(func() {
		n.kill()
		require.NoError(b, os.Remove(dir))
	})
	require.NoError(b, os.WriteFile(filepath.Join(dir, file), []byte(limit), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(pid), 0o600))
}

// createUntil creates requests on two connections, each 50 a second at most, until end. Returns how many were created a second.
func (n *node) createUntil(first firstRun, end <-chan time.Time) float64 {
	n.t.Helper()
	var made atomic.Int64
	var stop atomic.Bool
	var callers sync.WaitGroup
	began := time.Now()
	for range 2 {
		c := n.client()
		callers.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for !stop.Load() {
				<-pace.C
				a, err := send(c, "POST", n.base+"/v1/requests", first.LiveKey, first.laptop("One more"))
				if err != nil || a.status != 201 {
					n.t.Errorf("%v %d %s", err, a.status, a.body)
					return
				}
				made.Add(1)
			}
		})
	}
	<-end
	stop.Store(true)
	callers.Wait()
	return float64(made.Load()) / time.Since(began).Seconds()
}

// seedRequests writes copies of a request directly into the database.
func (p place) seedRequests(n *node, first firstRun, copies int) {
	p.t.Helper()
	id := under(p.t, decode(p.t, n.call(n.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop("The first")).body), "data")["id"]
	columns := column(p.t, p, map[bool]string{
		true:  `SELECT name FROM pragma_table_info('requests')`,
		false: `SELECT column_name FROM information_schema.columns WHERE table_name = 'requests' AND is_generated = 'NEVER'`,
	}[p.url == ""])
	values := strings.Join(columns, ", ")
	values = strings.Replace(", "+values+", ", ", id, ", ", 'req_copy' || (100000000 + i), ", 1)
	change(p.t, p, fmt.Sprintf(
		`WITH RECURSIVE copies(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copies WHERE i < %d) INSERT INTO requests (%s) SELECT %s FROM copies, (SELECT * FROM requests WHERE id = '%s') AS r`,
		copies, strings.Join(columns, ", "), strings.Trim(values, ", "), id))
}

// eachBench runs fn on SQLite and on PostgreSQL.
func eachBench(b *testing.B, fn func(b *testing.B, p place)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, onSQLite(b)) })
	b.Run("postgres", func(b *testing.B) { fn(b, onPostgres(b)) })
}
