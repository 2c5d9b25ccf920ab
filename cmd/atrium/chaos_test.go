//go:build faults

package main_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fault is an injected failure. It is over when the function returns.
type fault struct {
	name string
	do   func(s *site)
}

// site is an installation under faults.
type site struct {
	place // reads the database directly, not through the proxy
	t     *testing.T
	nodes []*node
	start func() *node // starts a node with the site's address
	proxy *proxy       // proxy of the database; nil on SQLite
	disk  string       // folder on a small file system
	tr    *traffic
}

var killed = fault{"kill -9", func(s *site) { s.replace((*node).kill) }}

// everywhere lists the faults for both databases. A kill occurs more often than the others.
var everywhere = []fault{
	killed, killed, killed,
	{"SIGTERM", func(s *site) { s.replace(func(n *node) { require.Zero(s.t, n.stop(), n.err) }) }},
	{"stopped by SIGSTOP", func(s *site) {
		n := s.any()
		require.NoError(s.t, n.cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(pause())
		require.NoError(s.t, n.cmd.Process.Signal(syscall.SIGCONT))
	}},
}

var onNetwork = append([]fault{
	{"connections to the database reset", func(s *site) {
		s.proxy.set(`{"enabled": false}`)
		time.Sleep(2 * time.Second)
		s.proxy.set(`{"enabled": true}`)
	}},
	{"answers of the database late", func(s *site) {
		s.proxy.toxic(`{"name": "slow", "type": "latency", "attributes": {"latency": 300, "jitter": 200}}`)
		time.Sleep(3 * time.Second)
		s.proxy.call("DELETE", "/toxics/slow", "")
	}},
	{"answers of the database cut off", func(s *site) {
		s.proxy.toxic(`{"name": "cut", "type": "reset_peer", "toxicity": 0.2, "attributes": {"timeout": 50}}`)
		time.Sleep(2 * time.Second)
		s.proxy.call("DELETE", "/toxics/cut", "")
	}},
}, everywhere...)

var onDisk = append([]fault{
	{"the disk full", func(s *site) {
		fill, err := os.Create(filepath.Join(s.disk, "fill"))
		require.NoError(s.t, err)
		for err == nil {
			_, err = fill.Write(make([]byte, 1<<16))
		}
		time.Sleep(3 * time.Second)
		require.NoError(s.t, fill.Close())
		require.NoError(s.t, os.Remove(fill.Name()))
	}},
	{"the disk slow", func(s *site) { // each write waits for half a second
		for range 6 {
			s.freeze("--freeze")
			time.Sleep(500 * time.Millisecond)
			s.freeze("--unfreeze")
			time.Sleep(50 * time.Millisecond)
		}
	}},
}, everywhere...)

// freeze makes writes to the small file system wait, or go on.
func (s *site) freeze(how string) {
	out, err := exec.Command("fsfreeze", how, s.disk).CombinedOutput()
	require.NoError(s.t, err, "%s", out)
}

// pause returns for how long to suspend a process: usually less than its database waits for it, sometimes more.
func pause() time.Duration {
	if rand.IntN(5) == 0 {
		return 20 * time.Second
	}
	return time.Duration(rand.IntN(3000)) * time.Millisecond
}

// Two nodes on PostgreSQL and one on SQLite work under load while their processes are killed or suspended, lose the database, or
// have a full or slow disk, ATRIUM_CHAOS_ROUNDS times (default 20). ATRIUM_CHAOS_FAULT selects one of the faults by its name. At the end,
// everything that was answered exists exactly once, with all that belongs to it.
func TestChaos(t *testing.T) {
	rounds := 20
	if text := os.Getenv("ATRIUM_CHAOS_ROUNDS"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	flags := deliveringFlags(t, impatient)
	t.Run("postgres", func(t *testing.T) {
		p := onPostgres(t)
		proxy := startProxy(t, p.url)
		q := p
		q.url = proxy.url
		first := q.serve(flags...) // later nodes get its address
		s := &site{place: p, t: t, proxy: proxy, start: func() *node { return first.beside(flags...) }}
		s.nodes = []*node{s.start(), s.start()}
		first.kill()
		s.suffer(rounds, onNetwork)
	})
	t.Run("sqlite", func(t *testing.T) {
		p := onSQLite(t)
		disk := filepath.Dir(p.data)
		image := filepath.Join(t.TempDir(), "disk")
		require.NoError(t, os.WriteFile(image, nil, 0o600))
		require.NoError(t, os.Truncate(image, 1280<<20))
		for _, command := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, disk}} {
			out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
			require.NoError(t, err, "a small disk takes the right to mount: %s", out)
		}
		t.Cleanup(func() {
			_ = exec.Command("fsfreeze", "--unfreeze", disk).Run() // fails unless a failed test left it frozen
			_ = exec.Command("umount", "--lazy", disk).Run()
		})
		first := p.serve(flags...)
		again := append([]string{"--listen", strings.TrimPrefix(first.base, "https://")}, flags...)
		s := &site{place: p, t: t, disk: disk, nodes: []*node{first}, start: func() *node { return p.serve(again...) }}
		s.suffer(rounds, onDisk)
	})
}

// suffer injects faults under load, and then checks the result.
func (s *site) suffer(rounds int, faults []fault) {
	s.tr = startTraffic(s.t, 4, true, s.nodes...)
	if name := os.Getenv("ATRIUM_CHAOS_FAULT"); name != "" {
		faults = slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.name != name })
		require.NotEmpty(s.t, faults, "no fault of this database is called %q", name)
	}
	happened := map[string]int{}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			for _, n := range s.nodes {
				text := n.err.String()
				s.t.Logf("%v; at last: %s", happened, text[max(0, len(text)-3000):])
			}
		}
	})
	for range rounds {
		s.tr.answered(5)
		f := faults[rand.IntN(len(faults))]
		f.do(s)
		happened[f.name]++
	}
	s.tr.answered(5)
	s.tr.end()
	s.t.Log(happened)
	require.Empty(s.t, s.tr.failed)
	s.tr.requireBalanced(s.place)
	// Hundreds of faults leave a queue: jobs were interrupted while the load went on.
	require.Eventually(s.t, func() bool { return s.run("doctor").code == 0 }, 10*time.Minute, 5*time.Second)
	requireHealthy(s.t, s.place)
}

// any returns one of the nodes.
func (s *site) any() *node { return s.nodes[rand.IntN(len(s.nodes))] }

// replace ends one of the nodes and starts another.
func (s *site) replace(end func(*node)) {
	i := rand.IntN(len(s.nodes))
	end(s.nodes[i])
	s.nodes[i] = s.start()
	s.tr.use(s.nodes...)
}

// proxy is a toxiproxy in front of the database.
type proxy struct {
	t   *testing.T
	api string // URL of toxiproxy's own API
	url string // database URL through the proxy
}

// startProxy starts the toxiproxy-server that ATRIUM_TOXIPROXY names.
func startProxy(t *testing.T, database string) *proxy {
	t.Helper()
	binary := os.Getenv("ATRIUM_TOXIPROXY")
	require.NotEmpty(t, binary, "ATRIUM_TOXIPROXY names no binary: run `make chaos`")
	at, listen := freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	cmd := exec.Command(binary, "-host", "127.0.0.1", "-port", port)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	to, err := url.Parse(database)
	require.NoError(t, err)
	body := fmt.Sprintf(`{"name": "database", "listen": %q, "upstream": %q, "enabled": true}`, listen, to.Host)
	require.Eventually(t, func() bool {
		a, err := send(http.DefaultClient, "POST", "http://"+at+"/proxies", "", body)
		return err == nil && a.status == http.StatusCreated
	}, patience, step)
	to.Host = listen
	return &proxy{t: t, api: "http://" + at + "/proxies/database", url: to.String()}
}

// set changes the proxy's settings.
func (x *proxy) set(body string) { x.call("POST", "", body) }

// toxic adds a toxic, which disturbs the database's answers.
func (x *proxy) toxic(body string) { x.call("POST", "/toxics", body) }

func (x *proxy) call(method, path, body string) {
	x.t.Helper()
	a, err := send(http.DefaultClient, method, x.api+path, "", body)
	require.NoError(x.t, err)
	require.Less(x.t, a.status, 300, a.body)
}
