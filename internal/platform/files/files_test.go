package files_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/files"
)

func key(t *testing.T) files.Key {
	t.Helper()
	k, text, err := files.MakeKey()
	require.NoError(t, err)
	again, err := files.ReadKey(text)
	require.NoError(t, err)
	require.Equal(t, k, again)
	return k
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	out, err := os.ReadDir(dir)
	require.NoError(t, err)
	return out
}

// A file is spooled, stored, read from any position, listed and removed. Only the key that it was encrypted under opens it.
func TestFile(t *testing.T) {
	t.Parallel()
	spool, root := t.TempDir(), t.TempDir()
	s, k := files.NewFolder(root), key(t)
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	spooled, err := files.Spool(spool, k, bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	require.EqualValues(t, len(content), spooled.Size)
	require.Equal(t, "text/plain", spooled.MediaType)
	require.Len(t, spooled.SHA256, 64)
	name := files.NewKey("co_1")
	require.NoError(t, s.Put(t.Context(), name, spooled))
	require.Empty(t, entries(t, spool))

	f, err := files.Open(t.Context(), s, name, k)
	require.NoError(t, err)
	require.EqualValues(t, len(content), f.Size)
	part := make([]byte, 100)
	_, err = f.ReadAt(part, 150_000)
	require.NoError(t, err)
	require.Equal(t, content[150_000:150_100], part)
	require.NoError(t, f.Close())
	_, err = files.Open(t.Context(), s, name, key(t))
	require.Error(t, err, "another company's key")
	stored, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	require.NotContains(t, string(stored), "0123456789")

	var listed []string
	require.NoError(t, s.List(t.Context(), func(key string, at time.Time) error {
		require.WithinDuration(t, time.Now(), at, time.Minute)
		listed = append(listed, key)
		return nil
	}))
	require.Equal(t, []string{name}, listed)
	for range 2 {
		require.NoError(t, s.Delete(t.Context(), name), "what is gone is no fault")
	}
	_, err = files.Open(t.Context(), s, name, k)
	require.ErrorIs(t, err, files.ErrNotFound)
}

// No key leads out of the folder.
func TestKeysStayInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := files.NewFolder(filepath.Join(dir, "files"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), []byte("outside"), 0o600))
	for _, bad := range []string{"", "x", "../x", "../../x", "co_1/../x", "/x", "co_1/", "/co_1", "co_1/a/b", "./x", ".x/y", "co_1/.x", `co_1\x`, "co_1/x\x00", "co_1/x y", "co_1/ä"} {
		_, err := s.Open(t.Context(), bad)
		require.ErrorContains(t, err, "is no key", bad)
		require.ErrorContains(t, s.Delete(t.Context(), bad), "is no key", bad)
		spooled, err := files.SpoolSealed(dir, strings.NewReader("y"), 1)
		require.NoError(t, err)
		require.ErrorContains(t, s.Put(t.Context(), bad, spooled), "is no key", bad)
		spooled.Discard()
		require.False(t, files.OfCompany(bad, "co_1"), bad)
	}
	require.Len(t, entries(t, dir), 1)
	name := files.NewKey("co_1")
	require.True(t, files.OfCompany(name, "co_1"))
	require.False(t, files.OfCompany(name, "co_2"))
	require.False(t, files.OfCompany(name+".320", "co_1"), "a preview")
}

// Nothing is left of a stream that breaks, or that has another size than announced.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	dir, k, broken := t.TempDir(), key(t), errors.New("the line went dead")
	for name, c := range map[string]struct {
		from io.Reader
		want error
	}{
		"broken":    {io.MultiReader(strings.NewReader("abc"), failing{broken}), broken},
		"too short": {strings.NewReader("abc"), files.ErrSize},
		"too long":  {strings.NewReader("abcdefghijkl"), files.ErrSize},
	} {
		_, err := files.Spool(dir, k, c.from, 10)
		require.ErrorIs(t, err, c.want, name)
		require.Empty(t, entries(t, dir), name)
	}
	_, err := files.SpoolSealed(dir, strings.NewReader("abc"), 10)
	require.ErrorIs(t, err, files.ErrSize)
	require.Empty(t, entries(t, dir))
	_, err = files.ReadKey("AGE-SECRET-KEY-1NONSENSE")
	require.EqualError(t, err, "files: no key", "an error never repeats the key")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// What pages would run is text, and what nobody knows is bytes.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"<html><script>alert(1)</script>": "text/plain", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`: "text/plain",
		"GIF89a<script>alert(1)</script>": "image/gif", "<svg onload=alert(1)>": "text/plain", "\x00<script>alert(1)</script>": "application/octet-stream",
		"%PDF-1.7": "application/pdf", "\x89PNG\r\n\x1a\n": "image/png", "\x00\x01\x02": "application/octet-stream",
	} {
		s, err := files.Spool(t.TempDir(), key(t), strings.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		require.Equal(t, want, s.MediaType, content)
	}
}

// zeros is a stream of zeros that notes how large the heap is while it is read.
type zeros struct{ most uint64 }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.look()
	return len(p), nil
}

func (z *zeros) Write(p []byte) (int, error) {
	z.look()
	return len(p), nil
}

func (z *zeros) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	z.most = max(z.most, m.HeapAlloc)
}

// A file of 100 MiB takes no more than 8 MiB of memory, in either direction. It measures the heap of the process, so it runs alone.
func TestMemoryOfAStream(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	const size = 100 << 20
	z, k, s, name := &zeros{}, key(t), files.NewFolder(t.TempDir()), files.NewKey("co_1")
	spooled, err := files.Spool(t.TempDir(), k, io.LimitReader(z, size), size)
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), name, spooled))
	f, err := files.Open(t.Context(), s, name, k)
	require.NoError(t, err)
	n, err := io.Copy(z, io.NewSectionReader(f, 0, f.Size))
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	require.NoError(t, f.Close())
	require.Less(t, z.most-min(z.most, before.HeapAlloc), uint64(8<<20))
}
