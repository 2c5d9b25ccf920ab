package main_test

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A backup of a server under writes is restored elsewhere. It holds everything that was answered before the backup began, files too, keys
// and sign-ins work, an idempotency key gets its earlier answer, and the audit log verifies.
func TestBackupAndRestore(t *testing.T) {
	p := onSQLite(t)
	n := p.serve()
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("Kept")
	kept := n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop, "Idempotency-Key", "one")
	n.call(c, 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"TOKEN","value":"not to be seen"}`)

	attached := []string{n.attach(first.LiveKey, "before the backup")}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for len(attached) < 60 { // a person has at most 100 drafts
			select {
			case <-stop:
				return
			default:
				attached = append(attached, n.attach(first.LiveKey, "meanwhile "+strconv.Itoa(len(attached))))
			}
		}
	})
	writing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = send(c, "POST", n.base+"/v1/requests", first.LiveKey, laptop) // the rate limit refuses some
			}
		}
	})
	dir := t.TempDir()
	file, words := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "words")
	require.NoError(t, os.WriteFile(words, []byte("correct horse battery\n"), 0o600))
	p.refused([]string{"--passphrase-file"}, "backup", "--to", file, "--with-keys")
	made := p.object("backup", "--to", file, "--with-keys", "--passphrase-file", words)
	close(stop)
	writing.Wait()
	require.Equal(t, true, made["keys"])
	require.NotZero(t, made["files"])
	p.refused([]string{"is there already"}, "backup", "--to", file)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(content), "not to be seen")
	key, err := os.ReadFile(filepath.Join(p.data, "master.key"))
	require.NoError(t, err)
	require.False(t, bytes.Contains(content, key[:40]), "the master key lies open in the backup")
	require.Zero(t, n.stop())

	// Restored elsewhere, with only the passphrase.
	q := onSQLite(t)
	q.refused([]string{"nothing was restored: the master key", "is missing"}, "restore", "--from", file)
	require.NoFileExists(t, filepath.Join(q.data, "atrium.db"), "a refusal leaves something behind")
	wrong := filepath.Join(dir, "wrong")
	require.NoError(t, os.WriteFile(wrong, []byte("wrong words for it"), 0o600))
	q.refused([]string{"passphrase"}, "restore", "--from", file, "--passphrase-file", wrong)
	q.object("restore", "--from", file, "--passphrase-file", words)
	q.refused([]string{"holds a database"}, "restore", "--from", file, "--passphrase-file", words)
	there := q.serve()
	require.Contains(t, there.call(there.client(), 200, "GET", "/v1/requests/"+idOf(t, kept.body), first.LiveKey, "").body, `"title":"Kept"`)
	again := there.call(there.client(), 201, "POST", "/v1/requests", first.LiveKey, laptop, "Idempotency-Key", "one")
	require.Equal(t, kept.body, again.body)
	require.Equal(t, true, q.object("audit", "verify")["intact"])
	for at, id := range attached {
		row, err := send(there.client(), "GET", there.base+"/v1/attachments/"+id, first.LiveKey, "")
		require.NoError(t, err)
		if at > 0 && row.status == 404 || strings.Contains(row.body, "UPLOADING") {
			continue // it came after the copy
		}
		content := there.call(there.client(), 200, "GET", "/v1/attachments/"+id+"/content", first.LiveKey, "").body
		require.Contains(t, content, map[bool]string{true: "before the backup", false: "meanwhile"}[at == 0])
	}
	require.NotEmpty(t, there.token(first.Company.ID, first.Owner.Email))
	require.Zero(t, there.stop())

	// A truncated or modified backup is refused, and nothing is left behind.
	for name, bad := range map[string][]byte{"not all of": content[:len(content)/2], "SHA-256 differs": flipped(t, content), "no backup": []byte("no archive")} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		r := onSQLite(t)
		r.refused([]string{name}, "restore", "--from", path, "--passphrase-file", words)
		left, err := os.ReadDir(r.data)
		require.True(t, os.IsNotExist(err) || len(left) == 0, "%s: %v", name, left)
	}
}

// With the master key in the environment, a backup with keys holds it, too: the restored folder needs no variable, and secrets open.
func TestBackupOfAKeyInTheEnvironment(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	key := "ATRIUM_MASTER_KEY=" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	n := p.serve(key)
	first := n.firstRun()
	n.call(n.client(), 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"TOKEN","value":"not to be seen"}`)
	file, words := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "words")
	require.NoError(t, os.WriteFile(words, []byte("correct horse battery\n"), 0o600))
	require.Equal(t, true, p.object(key, "backup", "--to", file, "--with-keys", "--passphrase-file", words)["keys"])
	require.NoFileExists(t, filepath.Join(p.data, "master.key"))

	q := onSQLite(t)
	q.object("restore", "--from", file, "--passphrase-file", words)
	require.FileExists(t, filepath.Join(q.data, "master.key"))
	require.Equal(t, true, q.object("doctor")["ok"])
	require.NotEmpty(t, q.token(first.Company.ID, first.Owner.Email))
}

// attach adds a draft with some content, and returns its id; empty for one that the rate limit refused.
func (n *node) attach(key, content string) string {
	n.t.Helper()
	c := n.client()
	made, err := send(c, "POST", n.base+"/v1/attachments", key, fmt.Sprintf(`{"draft":true,"name":"a.txt","size":%d}`, len(content)))
	require.NoError(n.t, err)
	if made.status != 201 {
		return ""
	}
	id := idOf(n.t, made.body)
	_, err = send(c, "PUT", n.base+"/v1/attachments/"+id+"/content", key, content)
	require.NoError(n.t, err)
	return id
}

// idOf returns the id in an answer.
func idOf(t testing.TB, body string) string {
	t.Helper()
	var answer struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	return answer.Data.ID
}

// A PostgreSQL dump of a running server, made by the role that the README names, is restored elsewhere. As the server's own role
// pg_dump fails.
func TestPostgresDumpAndRestore(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	n := p.serve()
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("Kept")
	kept := n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop, "Idempotency-Key", "one")
	n.call(c, 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"TOKEN","value":"not to be seen"}`)
	dump := filepath.Join(t.TempDir(), "dump")
	tool := func(name string, args ...string) (string, error) {
		out, err := exec.Command(name, args...).CombinedOutput()
		return string(out), err
	}
	out, err := tool("pg_dump", "--format=custom", "--file="+dump, p.url)
	require.Error(t, err)
	require.Contains(t, out, "row-level security")
	backup, err := url.Parse(p.url)
	require.NoError(t, err)
	backup.User = url.User("atrium_backup")
	out, err = tool("pg_dump", "--format=custom", "--file="+dump, backup.String())
	require.NoError(t, err, out)
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, first.laptop("After it"))
	require.Zero(t, n.stop())

	q := onPostgres(t)
	out, err = tool("pg_restore", "--no-owner", "--exit-on-error", "--dbname="+q.url, dump)
	require.NoError(t, err, out)
	key, err := os.ReadFile(filepath.Join(p.data, "master.key"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(q.data, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(q.data, "master.key"), key, 0o600))
	there := q.serve()
	require.Contains(t, there.call(there.client(), 200, "GET", "/v1/requests/"+idOf(t, kept.body), first.LiveKey, "").body, `"title":"Kept"`)
	require.NotContains(t, there.call(there.client(), 200, "GET", "/v1/requests?pageSize=100", first.LiveKey, "").body, "After it")
	again := there.call(there.client(), 201, "POST", "/v1/requests", first.LiveKey, laptop, "Idempotency-Key", "one")
	require.Equal(t, kept.body, again.body)
	require.Equal(t, true, q.object("audit", "verify")["intact"])
	require.NotEmpty(t, there.token(first.Company.ID, first.Owner.Email))
	require.Equal(t, true, q.object("doctor")["ok"])
}

// flipped changes one byte of the database in the archive.
func flipped(t *testing.T, archive []byte) []byte {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		require.NoError(t, err)
		if h.Name == "atrium.db" {
			body, err := io.ReadAll(r)
			require.NoError(t, err)
			at := strings.Index(string(archive), string(body[:100]))
			require.Positive(t, at)
			out := bytes.Clone(archive)
			out[at+len(body)/2] ^= 1
			return out
		}
	}
}
