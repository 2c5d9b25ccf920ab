package seal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"atrium/internal/platform/seal"
)

// keyFile creates a key file in its own folder and returns the path.
func keyFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	require.NoError(t, seal.CreateFile(path))
	return path
}

// opens requires that s decrypts a sealed value.
func opens(t *testing.T, s *seal.Sealer, sealed []byte, value string) {
	t.Helper()
	got, err := s.Unseal(sealed, []byte("aad"))
	require.NoError(t, err)
	require.Equal(t, value, string(got))
}

func sealed(t *testing.T, s *seal.Sealer, value string) []byte {
	t.Helper()
	out, err := s.Seal([]byte(value), []byte("aad"))
	require.NoError(t, err)
	return out
}

func TestCreateFile(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	require.Equal(t, []string{"master.key"}, names(t, filepath.Dir(path)))

	first, err := os.ReadFile(path)
	require.NoError(t, err)
	require.ErrorIs(t, seal.CreateFile(path), fs.ErrExist)
	second, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, []string{"master.key"}, names(t, filepath.Dir(path)))

	require.ErrorIs(t, seal.CreateFile(filepath.Join(t.TempDir(), "none", "master.key")), fs.ErrNotExist)
}

// Of many processes that start at once, one creates the key, and all of them use it.
func TestCreateFileTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	var created atomic.Int32
	values := make([][]byte, 20)
	var wg sync.WaitGroup
	for i := range values {
		wg.Go(func() {
			if err := seal.CreateFile(path); err == nil {
				created.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
			values[i] = sealed(t, open(t, seal.Source{File: path}), "value")
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, created.Load())
	for _, v := range values {
		opens(t, open(t, seal.Source{File: path}), v, "value")
	}
}

// A file that other users can access is refused, and so is one that is not a key. The error never quotes its contents.
func TestFileRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o604, 0o640, 0o644, 0o660, 0o622, 0o601, 0o777} {
		path := keyFile(t)
		require.NoError(t, os.Chmod(path, mode))
		_, err := seal.Open(context.Background(), seal.Source{File: path})
		require.ErrorContains(t, err, "others can read the file", mode)
		require.Error(t, seal.Rotate(path), mode)
	}
	for _, mode := range []fs.FileMode{0o600, 0o400} {
		path := keyFile(t)
		require.NoError(t, os.Chmod(path, mode))
		open(t, seal.Source{File: path})
	}
	for _, text := range []string{"", "{}", "top-secret", `{"primaryKeyId": "top-secret"}`, strings.Repeat("top-secret", 1<<17)} {
		path := filepath.Join(t.TempDir(), "master.key")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := seal.Open(context.Background(), seal.Source{File: path})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "top-secret")
	}
	_, err := seal.Open(context.Background(), seal.Source{File: t.TempDir()})
	require.ErrorContains(t, err, "not a regular file")
	_, err = seal.Open(context.Background(), seal.Source{File: filepath.Join(t.TempDir(), "master.key")})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestRotate(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	source := seal.Source{File: path}
	running := open(t, source)
	before := sealed(t, running, "before")

	for range 3 {
		require.NoError(t, seal.Rotate(path))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	require.Equal(t, []string{"master.key"}, names(t, filepath.Dir(path)))

	restarted := open(t, source)
	opens(t, restarted, before, "before")
	after := sealed(t, restarted, "after")
	opens(t, running, after, "after") // it reads the file again
	opens(t, open(t, source), sealed(t, running, "still"), "still")

	// Values sealed after the rotation need only the new key; the older ones need the old key.
	onlyPrimary(t, path)
	alone := open(t, source)
	opens(t, alone, after, "after")
	_, err = alone.Unseal(before, []byte("aad"))
	require.ErrorContains(t, err, "the file holds no key that opens it")
}

// Concurrent rotations exclude one another, and no key that was added is lost.
func TestRotateTogether(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	values := make([][]byte, 20)
	var wg sync.WaitGroup
	for i := range values {
		wg.Go(func() {
			if err := seal.Rotate(path); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
			values[i] = sealed(t, open(t, seal.Source{File: path}), "value")
		})
	}
	wg.Wait()
	for _, v := range values {
		opens(t, open(t, seal.Source{File: path}), v, "value")
	}
}

// A killed rotation leaves the key file unchanged, and the next rotation names the file to remove.
func TestRotateAfterCrash(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	value := sealed(t, open(t, seal.Source{File: path}), "value")
	require.NoError(t, os.WriteFile(path+".rotating", []byte(`{"half":`), 0o600))
	err := seal.Rotate(path)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, path+".rotating")
	opens(t, open(t, seal.Source{File: path}), value, "value")
	require.NoError(t, os.Remove(path+".rotating"))
	require.NoError(t, seal.Rotate(path))
	opens(t, open(t, seal.Source{File: path}), value, "value")
}

// A symbolic link to the key file stays a link.
func TestRotateThroughLink(t *testing.T) {
	t.Parallel()
	path := keyFile(t)
	link := filepath.Join(t.TempDir(), "link.key")
	require.NoError(t, os.Symlink(path, link))
	value := sealed(t, open(t, seal.Source{File: link}), "value")
	require.NoError(t, seal.Rotate(link))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	opens(t, open(t, seal.Source{File: path}), value, "value")
}

// ATRIUM_MASTER_KEY contains one bare key, several with the primary first, or a key file.
func TestBase64(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte{0xfb}, 32), bytes.Repeat([]byte{2}, 32)
	std := base64.StdEncoding.EncodeToString
	one := open(t, seal.Source{Base64: std(first)})
	value := sealed(t, one, "value")
	for _, same := range []string{
		std(first) + "\n", base64.RawStdEncoding.EncodeToString(first), base64.URLEncoding.EncodeToString(first),
		std(second) + "," + std(first), std(first) + ", " + std(second),
	} {
		opens(t, open(t, seal.Source{Base64: same}), value, "value")
	}
	rotated := sealed(t, open(t, seal.Source{Base64: std(second) + "," + std(first)}), "rotated")
	opens(t, open(t, seal.Source{Base64: std(second)}), rotated, "rotated")
	_, err := one.Unseal(rotated, []byte("aad"))
	require.Error(t, err)

	path := keyFile(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	opens(t, open(t, seal.Source{Base64: std(text)}), sealed(t, open(t, seal.Source{File: path}), "file"), "file")
}

// A key becomes a key file wherever it is, so that a backup can hold it. Only a key in a KMS does not.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	std := base64.StdEncoding.EncodeToString
	path := keyFile(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, source := range []seal.Source{
		{File: path}, {Base64: std(text)}, {Base64: std(bytes.Repeat([]byte{1}, 32))},
		{Base64: std(bytes.Repeat([]byte{1}, 32)) + "," + std(bytes.Repeat([]byte{2}, 32))},
	} {
		value := sealed(t, open(t, source), "value")
		content, err := source.KeyFile()
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "master.key")
		require.NoError(t, os.WriteFile(file, content, 0o600))
		opens(t, open(t, seal.Source{File: file}), value, "value")
	}
	content, err := seal.Source{KMS: "fake-kms://key"}.KeyFile()
	require.NoError(t, err)
	require.Nil(t, content)
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// onlyPrimary removes all keys but the primary from the file, like an operator with tinkey.
func onlyPrimary(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	require.NoError(t, err)
	require.Equal(t, 4, handle.Len())
	m := keyset.NewManagerFromHandle(handle)
	for _, info := range handle.KeysetInfo().GetKeyInfo() {
		if info.GetKeyId() != handle.KeysetInfo().GetPrimaryKeyId() {
			require.NoError(t, m.Delete(info.GetKeyId()))
		}
	}
	handle, err = m.Handle()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&out)))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
}
