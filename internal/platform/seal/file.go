package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// maxFileSize is far more than thousands of keys need.
const maxFileSize = 1 << 20

// CreateFile generates a master key and writes it to path with mode 0600. The write is atomic, even if the machine stops
// meanwhile. An existing file is left unchanged, and the error matches fs.ErrExist. Of several processes that start at once,
// one creates the file and the others find it.
func CreateFile(path string) error {
	if err := createFile(path); err != nil {
		return fmt.Errorf("seal: creating the master key: %w", err)
	}
	return nil
}

func createFile(path string) error {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // already removed if all went well
	if err := writeKeyset(f, handle); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil { // unlike a rename, a link never replaces a file
		return err
	}
	return syncDir(path)
}

// Rotate generates a new key, adds it to the file at path and makes it the primary, which wraps the data keys of processes that
// start from now on. The old keys stay, so all sealed values can still be decrypted. The file is replaced atomically and keeps
// its owner. Only one rotation runs at a time: the error matches fs.ErrExist while another is running, or after one was killed;
// it then names the left-over file, which may be removed.
func Rotate(path string) error {
	if err := rotate(path); err != nil {
		return fmt.Errorf("seal: rotating the master key: %w", err)
	}
	return nil
}

func rotate(path string) error {
	path, err := filepath.EvalSymlinks(path) // replace the file, not a link to it
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".rotating", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	replaced := false
	defer func() {
		if !replaced {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()

	text, info, err := readFile(path)
	if err != nil {
		return err
	}
	old, err := readKeyset(text)
	if err != nil {
		return err
	}
	m := keyset.NewManagerFromHandle(old)
	id, err := m.Add(aead.AES256GCMKeyTemplate())
	if err != nil {
		return err
	}
	if err := m.SetPrimary(id); err != nil {
		return err
	}
	handle, err := m.Handle()
	if err != nil {
		return err
	}
	if err := keepOwner(f, info); err != nil {
		return fmt.Errorf("keeping the owner: %w", err)
	}
	if err := writeKeyset(f, handle); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	replaced = true
	return syncDir(path)
}

// writeKeyset writes the keyset to f, syncs it to disk and closes f.
func writeKeyset(f *os.File, handle *keyset.Handle) error {
	text, err := encodeKeyset(handle)
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// encodeKeyset returns the keyset as the contents of a key file.
func encodeKeyset(handle *keyset.Handle) ([]byte, error) {
	var text bytes.Buffer
	err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text))
	return append(text.Bytes(), '\n'), err
}

// syncDir syncs the folder, so that the file's entry survives a power failure.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// readFile reads a key file. It refuses a file that other users can access.
func readFile(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("not a regular file")
	case info.Size() > maxFileSize:
		return nil, nil, errors.New("the file is too large for a master key")
	case !private(info):
		return nil, nil, fmt.Errorf("others can read the file (mode %04o): chmod 0600", info.Mode().Perm())
	}
	text, err := io.ReadAll(f)
	return text, info, err
}

// fileKey is a master key in a file. It reads the file again when it cannot unwrap a data key, because another process may have
// rotated the file and sealed with the new key.
type fileKey struct {
	path string

	mu   sync.Mutex
	info fs.FileInfo // of the file that was read
	key  tink.AEAD
}

func openFile(path string) (*fileKey, error) {
	m := &fileKey{path: path}
	return m, m.load()
}

func (m *fileKey) load() error {
	text, info, err := readFile(m.path)
	if err != nil {
		return err
	}
	key, err := parseKeyset(text)
	if err != nil {
		return err
	}
	m.key, m.info = key, info
	return nil
}

func (m *fileKey) current() tink.AEAD {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.key
}

// newer returns the file's key if the file was replaced since key was read. Returns an error if it was not.
func (m *fileKey) newer(key tink.AEAD) (tink.AEAD, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key != key {
		return m.key, nil
	}
	info, err := os.Stat(m.path)
	if err != nil {
		return nil, err
	}
	if os.SameFile(info, m.info) && info.ModTime().Equal(m.info.ModTime()) {
		return nil, errors.New("the file holds no key that opens it")
	}
	if err := m.load(); err != nil {
		return nil, err
	}
	return m.key, nil
}

// EncryptWithContext wraps with the primary key.
func (m *fileKey) EncryptWithContext(_ context.Context, plaintext, associatedData []byte) ([]byte, error) {
	return m.current().Encrypt(plaintext, associatedData)
}

// DecryptWithContext unwraps with the key of the file that wrapped the data key.
func (m *fileKey) DecryptWithContext(_ context.Context, ciphertext, associatedData []byte) ([]byte, error) {
	key := m.current()
	if plaintext, err := key.Decrypt(ciphertext, associatedData); err == nil {
		return plaintext, nil
	}
	key, err := m.newer(key)
	if err != nil {
		return nil, err
	}
	return key.Decrypt(ciphertext, associatedData)
}
