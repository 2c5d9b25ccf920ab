package merkle_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op/audit/merkle"
	"atrium/internal/test/testkit"
)

// keeper returns a writer of checkpoints to a file or URL.
func (b *bundle) keeper(to string) *merkle.CheckpointWriter {
	b.t.Helper()
	require.NoError(b.t, merkle.MakeKey(b.t.Context(), b.Store, b.Engine.Sealer))
	key, err := merkle.OpenKey(b.t.Context(), b.Store.Reader(), b.Engine.Sealer)
	require.NoError(b.t, err)
	log := slog.New(slog.DiscardHandler)
	return &merkle.CheckpointWriter{Store: b.Store, Key: key, Sealer: b.sealer, To: to, HTTP: &http.Client{Timeout: time.Minute}, Log: log}
}

// checkpoints returns the sizes that a file of checkpoints holds, by company.
func checkpoints(t *testing.T, k *merkle.CheckpointWriter, b []byte) map[string][]int64 {
	t.Helper()
	all, err := merkle.ReadCheckpoints(b, k.Key.Public, nil)
	require.NoError(t, err)
	out := map[string][]int64{}
	for _, c := range all {
		out[c.Company] = append(out[c.Company], c.Size)
	}
	return out
}

// Each log that has grown gets a checkpoint. A log that does not continue its last one gets none and is named, and the others get
// theirs.
func TestKeep(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := setup(t, w)
		file := filepath.Join(t.TempDir(), "checkpoints")
		k := b.keeper(file)
		require.NoError(t, k.Open(t.Context()))
		b.write(3)
		b.writeTo(w.B, 2)
		b.sealAll()
		require.NoError(t, k.Keep(t.Context()))
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, k.Keep(t.Context()))
		same, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(kept), string(same), "nothing has changed")

		b.write(1)
		b.writeTo(w.B, 1)
		b.sealAll()
		b.tamper("UPDATE audit_leaves SET hashes = substr(hashes, 1, 1) WHERE company_id = '" + w.B.Company.ID + "'")
		err = k.Keep(t.Context())
		require.ErrorContains(t, err, w.B.Company.ID)
		require.NotContains(t, err.Error(), w.A.Company.ID)
		more, err := os.ReadFile(file)
		require.NoError(t, err)
		sizes := checkpoints(t, k, more)
		require.Len(t, sizes[w.A.Company.ID], 2)
		require.Equal(t, sizes[w.A.Company.ID][0]+1, sizes[w.A.Company.ID][1])
		require.Len(t, sizes[w.B.Company.ID], 1)
	})
}

// A URL gets one POST for each checkpoint; one that it refuses is posted again the next time.
func TestKeepByURL(t *testing.T) {
	t.Parallel()
	b := setup(t, testkit.SQLiteWorld(t))
	var mu sync.Mutex
	var posted []string
	refused := true
	collector := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if text, err := io.ReadAll(r.Body); err == nil && !refused {
			posted = append(posted, string(text))
			return
		}
		refused = false // the first alone
		rw.WriteHeader(http.StatusBadGateway)
	}))
	defer collector.Close()
	k := b.keeper(collector.URL)
	require.NoError(t, k.Open(t.Context()))
	b.write(3)
	b.sealAll()
	require.ErrorContains(t, k.Keep(t.Context()), "502")
	require.NoError(t, k.Keep(t.Context()))
	sizes := checkpoints(t, k, []byte(strings.Join(posted, "\n")))
	require.Contains(t, sizes, b.A.Company.ID)
	for company, of := range sizes {
		require.Len(t, of, 1, company)
	}
	k.HTTP.CloseIdleConnections()
}

// A checkpoint that a power loss cut off, wherever, is left out by readers and removed by the next start. What is no checkpoint is an
// error.
func TestTornCheckpoint(t *testing.T) {
	t.Parallel()
	b := setup(t, testkit.SQLiteWorld(t))
	file := filepath.Join(t.TempDir(), "checkpoints")
	k := b.keeper(file)
	require.NoError(t, k.Open(t.Context()))
	for range 2 {
		b.write(1)
		b.sealAll()
		require.NoError(t, k.Keep(t.Context()))
	}
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	all, err := merkle.ReadCheckpoints(whole, k.Key.Public, nil)
	require.NoError(t, err)
	last := strings.LastIndex(string(whole), "\n\natrium/audit/") + 1
	for end := last; end < len(whole); end++ {
		for _, lost := range []string{"", "\x00\x00\x00"} { // the size may be on disk before the content
			require.NoError(t, os.WriteFile(file, []byte(string(whole[:end])+lost), 0o600))
			again := b.keeper(file)
			require.NoError(t, again.Open(t.Context()), "%q", whole[last:end])
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			left, err := merkle.ReadCheckpoints(kept, k.Key.Public, nil)
			require.NoError(t, err)
			require.Equal(t, all[:len(all)-1], left)
			if end%40 == 0 {
				require.NoError(t, again.Keep(t.Context()))
				kept, err = os.ReadFile(file)
				require.NoError(t, err)
				left, err = merkle.ReadCheckpoints(kept, k.Key.Public, nil)
				require.NoError(t, err)
				require.Equal(t, all, left)
			}
		}
	}
	_, err = merkle.ReadCheckpoints([]byte("something else\n"), k.Key.Public, nil)
	require.Error(t, err)
	_, err = merkle.ReadCheckpoints([]byte(string(whole)+"\nsomething else\n"), k.Key.Public, nil)
	require.Error(t, err)
}
