package main_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// installation is one on which a server has run once: its demo company is there, and no job waits. It is made by the first test that asks
// for it, for all that start from a copy.
type installation struct {
	once sync.Once
	data string // "" if it could not be made
}

var preparedSQLite, preparedPostgres installation

// preparedName names the installation's database among the cluster's templates. Its data folder goes with it, and ends with the process.
func preparedName() string { return "prepared by " + program }

// prepared returns the place with a copy of an installation on which a server has run before. Its next start costs a third of the
// processor's time of a first one, which migrates the database and makes the demo company; the tests of first starts do without it.
func (p place) prepared() place {
	p.t.Helper()
	i := &preparedSQLite
	if p.url == "" {
		i.once.Do(func() { i.make(p, "") })
	} else {
		i = &preparedPostgres
		p.url = testkit.PostgresTemplate(p.t, preparedName(), func(url string) error {
			i.make(p, url)
			return nil
		})
	}
	require.NotEmpty(p.t, i.data, "another test could not prepare an installation")
	out, err := exec.Command("cp", "-a", i.data, p.data).CombinedOutput() // with the modes of the key and the folders
	require.NoError(p.t, err, "%s", out)
	return p
}

// make runs a server until its demo company is there and no job waits, and stops it.
func (i *installation) make(by place, url string) {
	by.t.Helper()
	folder := "prepared-sqlite"
	if url != "" {
		folder = "prepared-postgres"
	}
	p := place{t: by.t, data: filepath.Join(filepath.Dir(program), folder), url: url}
	n := p.serve()
	for late := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if countRows(p.t, p, "river_job WHERE state IN ('available', 'running', 'retryable')") == 0 {
			break
		}
		require.True(p.t, time.Now().Before(late), "jobs wait")
	}
	require.Zero(p.t, n.stop(), "%s", n.err)
	i.data = p.data
}
