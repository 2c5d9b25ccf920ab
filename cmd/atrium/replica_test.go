package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// Two nodes read from a replica. A request filed on one node appears in the next list on the other, whether the replica keeps up,
// is paused or is gone. Metrics and doctor report the state.
func TestReplica(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	r := testkit.NewReplicated(t)
	p.url = r.URL
	nodes := []*node{p.serve("--database-read-url", r.ReadURL), p.serve("ATRIUM_DATABASE_READ_URL=" + r.ReadURL)}
	first, c := nodes[0].firstRun(), p.client()
	metric := func(n *node, name string) float64 {
		page, err := send(http.DefaultClient, "GET", n.admin+"/metrics", "", "")
		require.NoError(t, err)
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(page.body)
		require.NotNil(t, found, name)
		value, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		return value
	}
	const byReplica = `atrium_replica_reads_total{answered_by="replica"}`
	replicates := func() {
		t.Helper()
		for _, n := range nodes {
			before := metric(n, byReplica)
			require.Eventually(t, func() bool {
				n.call(c, 200, "GET", "/v1/requests", first.LiveKey, "")
				return metric(n, byReplica) > before
			}, patience, step)
		}
	}
	filed := 0
	file := func() {
		t.Helper()
		for range 10 {
			filed++
			title := fmt.Sprintf("Laptop number %d.", filed)
			nodes[filed%2].call(c, 201, "POST", "/v1/requests", first.LiveKey, first.laptop(title))
			require.Contains(t, nodes[(filed+1)%2].call(c, 200, "GET", "/v1/requests", first.LiveKey, "").body, title)
		}
	}
	doctor := func() result { return p.run("doctor", "--database-read-url", r.ReadURL) }
	behind := func(says string) {
		t.Helper()
		for _, n := range nodes {
			require.Eventually(t, func() bool { return metric(n, "atrium_replica_behind_seconds") > 0 }, patience, step)
		}
		require.Regexp(t, "(?m)^BAD  replica keeps up: .*"+says, doctor().stdout)
	}
	replicates()
	file()
	require.Eventually(t, func() bool { return regexp.MustCompile("(?m)^ok   replica keeps up").MatchString(doctor().stdout) }, patience, time.Second)

	r.Pause()
	file()
	behind("behind")
	r.Resume()
	replicates()

	r.Kill()
	file()
	behind("connect")
	r.Revive()
	replicates()
	file()
}
