package main_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/files"
	"atrium/internal/test/testkit"
)

// The credentials of the bucket, in the process's environment, too, for the tests that look into the bucket themselves.
const bucketKey = "bucketkey"

// bucket is an S3-compatible server that nobody here wrote, with one bucket. It verifies signatures.
type bucket struct {
	t       testing.TB
	address string
	backend backend
	server  *http.Server
	breaks  atomic.Bool // it goes away in the middle of what is sent to it
}

// backend takes an empty delimiter for none, as S3 does.
type backend struct{ *s3mem.Backend }

func (b backend) ListBucket(ctx context.Context, name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	prefix.HasDelimiter = prefix.Delimiter != ""
	return b.Backend.ListBucket(ctx, name, prefix, page)
}

func newBucket(t testing.TB) *bucket {
	t.Helper()
	b := &bucket{t: t, address: freeAddress(t), backend: backend{s3mem.New()}}
	require.NoError(t, b.backend.CreateBucket(t.Context(), "files"))
	b.start()
	return b
}

func (b *bucket) start() {
	b.t.Helper()
	l, err := net.Listen("tcp", b.address)
	require.NoError(b.t, err)
	s3 := gofakes3.New(b.backend, gofakes3.WithV4Auth(map[string]string{bucketKey: bucketKey}))
	b.server = &http.Server{Handler: b.breaking(s3.Server()), ReadHeaderTimeout: patience}
	go func(s *http.Server) { _ = s.Serve(l) }(b.server) // until it is stopped
	b.t.Cleanup(b.stop)
}

// breaking reads the first 64 KiB of what is sent, and ends the connection, while the bucket breaks.
func (b *bucket) breaking(whole http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.breaks.Load() && r.Method == http.MethodPut {
			_, _ = io.CopyN(io.Discard, r.Body, 64<<10)
			panic(http.ErrAbortHandler)
		}
		whole.ServeHTTP(w, r)
	})
}

func (b *bucket) stop() { _ = b.server.Close() }

// url is the address of a prefix in the bucket.
func (b *bucket) url(prefix string) string {
	return "s3://files/" + prefix + "?endpoint=" + url.QueryEscape("http://"+b.address)
}

// in returns the place with its files below a prefix of the bucket.
func (b *bucket) in(p place, prefix string) place {
	p.bucketURL = b.url(prefix)
	return p
}

// What one node takes, another one gives, whole and in ranges. While the bucket is away, or goes away in the middle of a file that is sent
// whole or in parts, the file is refused with a sentence, and the same call succeeds once it is back. Bytes come to the bucket encrypted, the same ones once.
func TestFilesInABucket(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	b := newBucket(t)
	p = b.in(p, "live")
	redis := "--redis-url=" + testkit.Redis(t)
	a, other := p.serve(redis), p.serve(redis)
	key, c := p.firstRun().LiveKey, p.client()
	raw := make([]byte, 5<<20)
	_, _ = rand.Read(raw)
	content := fmt.Sprintf("%x", raw) // 10 MiB of text
	id := a.attach(key, content)
	path := "/v1/attachments/" + id + "/content"
	require.Equal(t, content, other.call(c, 200, "GET", path, key, "").body)
	part := other.call(c, 206, "GET", path, key, "", "Range", "bytes=7000000-7000099")
	require.Equal(t, content[7_000_000:7_000_100], part.body)
	require.NotEmpty(t, a.attach(key, content))
	stored := b.keys("live")
	require.Len(t, stored, 1, "the same bytes, once")
	sealed, err := b.backend.GetObject(t.Context(), "files", "live/"+stored[0], nil)
	require.NoError(t, err)
	all, err := io.ReadAll(sealed.Contents)
	require.NoError(t, errors.Join(err, sealed.Contents.Close()))
	require.NotContains(t, string(all), content[:100])

	b.stop()
	made := a.call(c, 201, "POST", "/v1/attachments", key, `{"draft":true,"name":"b.txt","size":4}`)
	late := "/v1/attachments/" + idOf(t, made.body) + "/content"
	require.Contains(t, a.call(c, 503, "PUT", late, key, "late").body, "The file could not be stored. Send it again.")
	a.call(c, 503, "GET", path, key, "")
	a.call(c, 200, "GET", "/v1/requests", key, "")
	b.start()
	a.call(c, 200, "PUT", late, key, "late")
	require.Equal(t, "late", other.call(c, 200, "GET", late, key, "").body)

	for i, content := range []string{content + "!", content + content + "!"} { // from 16 MiB on a file is sent in parts
		made := a.call(c, 201, "POST", "/v1/attachments", key, fmt.Sprintf(`{"draft":true,"name":"c.txt","size":%d}`, len(content)))
		path := "/v1/attachments/" + idOf(t, made.body) + "/content"
		b.breaks.Store(true)
		require.Contains(t, a.call(c, 503, "PUT", path, key, content).body, "The file could not be stored. Send it again.")
		require.Contains(t, other.call(c, 409, "GET", path, key, "").body, "have not come yet")
		b.breaks.Store(false)
		require.Len(t, b.keys("live"), 2+i, "nothing is left of what was cut off")
		a.call(c, 200, "PUT", path, key, content)
		require.Equal(t, content, other.call(c, 200, "GET", path, key, "").body)
	}
	left, err := filepath.Glob(filepath.Join(p.data, "uploads", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// keys are those of all files in the bucket.
func (b *bucket) keys(prefix string) (out []string) {
	b.t.Helper()
	at, err := files.NewBucket(b.url(prefix))
	require.NoError(b.t, err)
	require.NoError(b.t, at.List(b.t.Context(), func(key string, _ time.Time) error {
		out = append(out, key)
		return nil
	}))
	return out
}

// A backup holds the files of a bucket and restores them into another one. A refused restore leaves nothing there.
func TestBackupOfABucket(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	b := newBucket(t)
	p = b.in(p, "live")
	n := p.serve()
	first := p.firstRun()
	id := n.attach(first.LiveKey, "in the bucket")
	require.Zero(t, n.stop())
	file, words := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "words")
	require.NoError(t, os.WriteFile(words, []byte("correct horse battery staple"), 0o600))
	p.ok("backup", "--to", file, "--with-keys", "--passphrase-file", words)

	q := b.in(onSQLite(t), "restored")
	cut := filepath.Join(t.TempDir(), "cut.tar")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cut, content[:len(content)-1024-512], 0o600))
	q.refused([]string{"not all of a backup"}, "restore", "--from", cut, "--passphrase-file", words)
	require.Empty(t, b.keys("restored"))
	q.ok("restore", "--from", file, "--passphrase-file", words)
	require.Len(t, b.keys("restored"), 1)
	there := q.serve()
	require.Equal(t, "in the bucket", there.call(there.client(), 200, "GET", "/v1/attachments/"+id+"/content", first.LiveKey, "").body)
}

// A server whose bucket is not there, or does not know its credentials, does not start, and says which flag is to blame.
func TestBucketsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	b := newBucket(t)
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}
	nowhere := p
	nowhere.bucketURL = strings.Replace(b.url(""), "files", "nowhere", 1)
	nowhere.refused([]string{"--files-url", "nowhere"}, serve...)
	b.in(p, "live").refused([]string{"--files-url", "files"}, append([]string{"AWS_SECRET_ACCESS_KEY=wrong"}, serve...)...)
}

// A bucket keeps what the interface says: it finds what is stored, in any order of reads, and nothing else.
func TestBucketAsAStore(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	ctx, dir := t.Context(), t.TempDir()
	at, err := files.NewBucket(b.url("deep/er"))
	require.NoError(t, err)
	require.NoError(t, at.Check(ctx))
	_, err = at.Open(ctx, files.NewKey("co_1"))
	require.ErrorIs(t, err, files.ErrNotFound)
	require.NoError(t, at.Delete(ctx, files.NewKey("co_1")), "none is no fault")
	require.Error(t, at.Delete(ctx, "co_1/../../x"))

	keys := map[string]string{}
	for n, words := range []string{"0", "short", strings.Repeat("0123456789", 200_000)} {
		spooled, err := files.SpoolSealed(dir, strings.NewReader(words), int64(len(words)))
		require.NoError(t, err)
		key := files.NewKey(fmt.Sprintf("co_%d", n))
		require.NoError(t, at.Put(ctx, key, spooled))
		keys[key] = words
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "spools are consumed")
	for key, words := range keys {
		f, err := at.Open(ctx, key)
		require.NoError(t, err)
		require.EqualValues(t, len(words), f.Size())
		for _, off := range []int{1_500_000, 0, 10, 3} {
			part := make([]byte, 10)
			n, err := f.ReadAt(part, int64(off))
			want := words[min(off, len(words)):min(off+10, len(words))]
			require.Equal(t, want, string(part[:n]))
			require.Equal(t, len(want) < 10, errors.Is(err, io.EOF), "%v", err)
		}
		whole, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		require.Equal(t, words, string(whole))
		require.NoError(t, f.Close())
	}
	listed := map[string]bool{}
	require.NoError(t, at.List(ctx, func(key string, stored time.Time) error {
		require.WithinDuration(t, time.Now(), stored, time.Minute)
		listed[key] = true
		return nil
	}))
	require.Len(t, listed, len(keys))
	for key := range keys {
		require.True(t, listed[key], key)
		require.NoError(t, at.Delete(ctx, key))
		_, err = at.Open(ctx, key)
		require.ErrorIs(t, err, files.ErrNotFound)
	}
	ended, end := context.WithCancel(ctx)
	end()
	require.Error(t, at.List(ended, func(string, time.Time) error { return nil }))
	require.Empty(t, b.keys(""))
}
