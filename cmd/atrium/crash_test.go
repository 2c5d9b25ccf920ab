package main_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Creates of one burst, and how many of them run at once: few enough that each has its answer within gate.MaxCall, also where other
// tests load the machine.
const (
	creates         = 300
	parallelCreates = 64
)

// load is a number of creates.
type load struct {
	calls, width int    // number of calls, and how many run concurrently
	mark         int    // after this many answers with 201 …
	at           func() // … this is called, while the other calls continue
}

// burst sends creates in parallel. It returns the ids of the creates answered with 201, the number of calls without an answer,
// and all other answers.
func burst(n *node, first firstRun, l load) (ids []string, broken int, others []string) {
	c := n.client()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var done atomic.Int64
	once := sync.OnceFunc(l.at)
	slots := make(chan struct{}, l.width)
	for i := range l.calls {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			body := first.laptop(fmt.Sprint("burst ", i))
			a, err := send(c, "POST", n.base+"/v1/requests", first.LiveKey, body)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				broken++
			case a.status == 201:
				var made struct{ Data struct{ ID string } }
				if err := json.Unmarshal([]byte(a.body), &made); err != nil || made.Data.ID == "" {
					others = append(others, "a 201 without an id: "+a.body)
				}
				ids = append(ids, made.Data.ID)
				if int(done.Add(1)) >= l.mark {
					go once()
				}
			default:
				others = append(others, fmt.Sprint(a.status, " ", a.body))
			}
		})
	}
	wg.Wait()
	return ids, broken, others
}

// requireWhole asserts that the database holds the requests, that every request has its audit entry and its event, and that there
// are no other audit entries or events of requests.
func requireWhole(t *testing.T, p place, company string, ids []string) {
	t.Helper()
	of := " WHERE company_id = '" + company + "'"
	rows := column(t, p, "SELECT id FROM requests"+of)
	audited := column(t, p, "SELECT resource_id FROM audit_entries"+of+" AND action = 'request.created' AND outcome = 'allowed'")
	events := column(t, p, "SELECT subject_id FROM events"+of+" AND type = 'request.created'")
	sort.Strings(rows)
	sort.Strings(audited)
	sort.Strings(events)
	require.Equal(t, rows, audited, "requests and their audit entries")
	require.Equal(t, rows, events, "requests and their events")
	require.Subset(t, rows, ids, "an answered request is lost")
	require.Equal(t, fmt.Sprint(len(rows)), column(t, p, "SELECT CAST(sum(n) AS BIGINT) FROM row_counts"+of+" AND kind = 'request'")[0], "the kept counter")
}

func TestKilledDuringCreates(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
		var kept []string
		for _, mark := range []int{1, 60, 250} {
			ids, _, others := burst(n, first, load{creates, parallelCreates, mark, n.kill})
			require.Empty(t, others)
			require.GreaterOrEqual(t, len(ids), mark)
			<-n.ended
			kept = append(kept, ids...)
			n = p.serve()
			requireWhole(t, p, first.Company.ID, kept)
			first = p.firstRun()
			n.call(p.client(), 200, "GET", "/v1/requests/"+ids[0], first.LiveKey, "")
			runCurl(t, n)
		}
		t.Logf("%d of %d creates were answered before the kills; all of them are there", len(kept), 3*creates)
		n.kill()
		requireHealthy(t, p)
	})
}

func TestTerminatedDuringCreates(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
		before := countRows(t, p, "requests")
		code := make(chan int, 1)
		ids, broken, others := burst(n, first, load{600, parallelCreates, 150, func() { code <- n.stop() }})
		require.Empty(t, others, "a call that was accepted got no full answer")
		require.Zero(t, <-code, "%s", n.err)
		requireWhole(t, p, first.Company.ID, ids)
		require.Equal(t, before+len(ids), countRows(t, p, "requests"), "a create took effect without an answer")
		require.NotContains(t, n.err.String(), `"level":"ERROR"`)
		require.NotZero(t, broken, "the load ended before the server did")
		t.Logf("%d creates were answered, %d connections refused or closed before a request was read", len(ids), broken)
		requireHealthy(t, p)
	})
}

// A second signal ends the process at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve()
	c := p.client()
	first := p.firstRun()
	// A request whose body does not end delays a graceful stop.
	body, end := hanging()
	defer end()
	started := make(chan struct{})
	go func() {
		defer close(started)
		_, _ = stream(c, n.base+"/v1/requests", first.LiveKey, body)
	}()
	body.awaitRead(t)
	require.NoError(t, n.cmd.Process.Signal(sigterm))
	require.Eventually(t, func() bool { return strings.Contains(n.err.String(), "stopping") }, patience, 1e6)
	require.NoError(t, n.cmd.Process.Signal(sigterm))
	require.NotZero(t, n.wait())
	end()
	<-started
}
