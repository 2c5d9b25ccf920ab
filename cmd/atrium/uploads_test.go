package main_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// mostOfUploads limits what many uploads at once add to a server's memory, in MiB.
const mostOfUploads = 100

// Many files that come at once cost little memory, and each is kept as it was sent. One of 1 GiB is refused before its bytes.
// ATRIUM_SOAK_ROUNDS is the number of files; 100 and more are of 25 MiB.
func TestUploadsAtOnce(t *testing.T) {
	t.Parallel()
	many, size := testkit.Rounds(t, 30), 8<<20
	if many >= 100 {
		size = 25 << 20
	}
	p := onSQLite(t).prepared()
	n := p.serve()
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
	c := p.client()
	c.Transport.(*http.Transport).ExpectContinueTimeout = patience
	n.call(c, 200, "GET", "/v1/requests?pageSize=1", first.LiveKey, "")
	_, before, _ := n.memory()
	require.NoError(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", n.cmd.Process.Pid), []byte("5"), 0o600)) // the peak counts from here
	var sending sync.WaitGroup
	sent := make(chan string, many) // their ids
	for i := range many {
		sending.Go(func() {
			made, err := send(c, "POST", n.base+"/v1/attachments", first.LiveKey, fmt.Sprintf(`{"draft":true,"name":"%d.bin","size":%d}`, i, size))
			if err != nil || made.status != 201 {
				t.Errorf("%v %v", err, made)
				return
			}
			got, err := n.put(c, "/v1/attachments/"+idOf(t, made.body)+"/content", first.LiveKey, randomBytes(i, size), int64(size))
			hash := sha256.New()
			_, _ = io.Copy(hash, randomBytes(i, size))
			if err != nil || got.status != 200 || !strings.Contains(got.body, fmt.Sprintf(`"sha256":"%x"`, hash.Sum(nil))) {
				t.Errorf("%v %v", err, got)
			}
			sent <- idOf(t, made.body)
		})
	}
	sending.Wait()
	_, _, peak := n.memory()
	t.Logf("%d files of %d MiB at once: %d MiB, and %d before", many, size>>20, peak, before)
	require.Less(t, peak-before, mostOfUploads)
	left, err := filepath.Glob(filepath.Join(p.data, "uploads", "*"))
	require.NoError(t, err)
	require.Empty(t, left)

	n.call(c, 204, "DELETE", "/v1/attachments/"+<-sent, first.LiveKey, "") // a person has a hundred drafts at most
	refused := n.call(c, 400, "POST", "/v1/attachments", first.LiveKey, `{"draft":true,"name":"big.bin","size":1073741824}`)
	require.Contains(t, refused.body, "the plan allows files of")
	small := n.call(c, 201, "POST", "/v1/attachments", first.LiveKey, `{"draft":true,"name":"small.bin","size":1000}`)
	require.Contains(t, small.body, `"uploadUrl":"`+n.base+"/v1/attachments/"+idOf(t, small.body)+`/content"`)
	asked := &unasked{}
	big, err := n.put(c, "/v1/attachments/"+idOf(t, small.body)+"/content", first.LiveKey, asked, 1<<30)
	require.NoError(t, err)
	require.Equal(t, 400, big.status, big.body)
	require.Contains(t, big.body, "announced with 1000 bytes")
	require.Zero(t, asked.read, "no byte of it was sent")
}

// smallDisks starts the program with two small disks, of 4 MB for what is being sent and of 6 MB for what is kept.
const smallDisks = `#!/bin/sh
set -e
if [ -z "$MAPPED" ]; then
  export MAPPED=1
  unshare --mount true 2>/dev/null && exec unshare --mount "$0" "$@"
  exec unshare --user --map-root-user --mount "$0" "$@"
fi
mkdir -p "$ATRIUM_DATA/uploads" "$ATRIUM_DATA/files"
mount -t tmpfs -o size=4m tmpfs "$ATRIUM_DATA/uploads"
mount -t tmpfs -o size=6m tmpfs "$ATRIUM_DATA/files"
exec %q "$@"
`

// On a full disk, of what is being sent or of what is kept, a file is refused with a sentence, and nothing is left of it: what there is room
// for is taken, and all else goes on.
func TestUploadsToAFullDisk(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	starts := filepath.Join(t.TempDir(), "start")
	require.NoError(t, os.WriteFile(starts, fmt.Appendf(nil, smallDisks, program), 0o700))
	small := p
	small.release = starts
	n := small.serve()
	key, c := p.firstRun().LiveKey, p.client()
	sent := func(seed, size, want int) string {
		t.Helper()
		made := n.call(c, 201, "POST", "/v1/attachments", key, fmt.Sprintf(`{"draft":true,"name":"%d.bin","size":%d}`, seed, size))
		path := "/v1/attachments/" + idOf(t, made.body) + "/content"
		got, err := n.put(c, path, key, randomBytes(seed, size), int64(size))
		require.NoError(t, err)
		require.Equal(t, want, got.status, got.body)
		if want == 503 {
			require.Contains(t, got.body, "The server has no room for the file. Send it again later.")
			n.call(c, 409, "GET", path, key, "")
		}
		return path
	}
	stored := func(folder string) (files int) {
		t.Helper()
		root := filepath.Join("/proc", strconv.Itoa(n.cmd.Process.Pid), "root", p.data, folder)
		require.NoError(t, filepath.WalkDir(root, func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files++
			}
			return err
		}))
		return files
	}
	first := sent(1, 3_500_000, 200)
	sent(2, 5_000_000, 503) // does not fit among what is being sent
	sent(3, 3_500_000, 503) // nor this one among what is kept
	require.Equal(t, []int{0, 1}, []int{stored("uploads"), stored("files")})
	sent(4, 1_000_000, 200)
	require.Len(t, n.call(c, 200, "GET", first, key, "").body, 3_500_000)
	n.call(c, 200, "GET", "/v1/requests", key, "")
}

// put sends a body of a length once the server asks for it (Expect).
func (n *node) put(c *http.Client, path, secret string, body io.Reader, length int64) (answer, error) {
	req, err := http.NewRequestWithContext(n.t.Context(), http.MethodPut, n.base+path, body)
	if err != nil {
		return answer{}, err
	}
	req.ContentLength = length
	req.Header.Set("X-Api-Key", secret)
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Expect", "100-continue")
	return answerTo(c, req)
}

// randomBytes returns bytes that differ for each seed.
func randomBytes(seed, size int) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{byte(seed), 1}), int64(size))
}

// unasked is a body that counts what is read of it.
type unasked struct{ read int }

func (u *unasked) Read(b []byte) (int, error) {
	u.read += len(b)
	return len(b), nil
}
