package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"atrium/internal/platform/files"
)

// mostBytes is the maximum size of the manifest, of the encrypted keys and of each key.
const mostBytes = 1 << 20

// ErrOccupied is returned for a folder that already holds a database.
var ErrOccupied = errors.New("the folder holds a database already")

// RestoreOptions say where and how to restore a backup.
type RestoreOptions struct {
	Dir        string // created if it does not exist
	Files      files.Store
	Spool      string // the folder of files that are not stored yet
	Passphrase string // of the keys; without it the keys are not restored
	Check      func(ctx context.Context, dir string) error
}

// Read restores a backup into a folder that holds no database. The caller's check sees the restored folder, including keys that
// were there before. After an error, the files that Read created are removed.
func Read(ctx context.Context, from string, o RestoreOptions) (_ *Manifest, err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} { // a WAL left behind would be replayed into the restored database
		if _, err := os.Lstat(filepath.Join(o.Dir, databaseName+suffix)); err == nil {
			return nil, ErrOccupied
		}
	}
	var made, stored []string
	defer func() {
		if err == nil {
			return
		}
		for _, key := range stored {
			_ = o.Files.Delete(context.WithoutCancel(ctx), key) // a file that cannot be removed is left behind
		}
		for _, path := range slices.Backward(made) {
			_ = os.Remove(path) // likewise, and so is a folder with other files
		}
		_ = os.Remove(o.Dir) // fails unless it is empty
	}()
	defer func() { _ = os.Remove(o.Spool) }() // likewise
	place := func(path string) string {
		made = append(made, path)
		return path
	}
	m, keys, err := unpack(ctx, from, o, place, func(key string) { stored = append(stored, key) })
	if err != nil {
		return nil, err
	}
	if keys != nil && o.Passphrase != "" {
		if err := placeKeys(keys, o, place); err != nil {
			return nil, err
		}
	}
	made = append(made, filepath.Join(o.Dir, databaseName+"-wal"), filepath.Join(o.Dir, databaseName+"-shm"))
	database := filepath.Join(o.Dir, databaseName)
	if err := CheckIntegrity(ctx, database); err != nil {
		return nil, fmt.Errorf("the backup is not sound: %w", err)
	}
	if err := o.Check(ctx, o.Dir); err != nil {
		return nil, fmt.Errorf("nothing was restored: %w", err)
	}
	return m, files.SyncFolder(o.Dir)
}

// unpack writes the database and the attached files to their places and returns the manifest and the encrypted keys.
func unpack(ctx context.Context, from string, o RestoreOptions, place func(string) string, stores func(key string)) (m *Manifest, keys []byte, err error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, nil, fmt.Errorf("open the backup: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := tar.NewReader(f)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil, errors.New("the backup holds no database")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("this is no backup, or not all of one: %w", err)
		}
		switch {
		case h.Name == manifestName && m == nil && h.Size <= mostBytes:
			m = &Manifest{}
			if err := json.NewDecoder(r).Decode(m); err != nil {
				return nil, nil, fmt.Errorf("read the manifest: %w", err)
			}
			if m.Format < 1 || m.Format > format {
				return nil, nil, fmt.Errorf("the backup has format %d, and this program reads formats up to %d", m.Format, format)
			}
		case h.Name == keysName && m != nil && h.Size <= mostBytes:
			if keys, err = io.ReadAll(r); err != nil {
				return nil, nil, fmt.Errorf("read the keys: %w", err)
			}
		case h.Name == databaseName && m != nil:
			if err := placeDatabase(r, m, place(filepath.Join(o.Dir, databaseName))); err != nil {
				return nil, nil, err
			}
			return m, keys, storeFiles(ctx, r, m, o, stores)
		default:
			return nil, nil, errors.New("this is no backup of Atrium")
		}
	}
}

// placeDatabase writes the database and compares its SHA-256 with the manifest.
func placeDatabase(r io.Reader, m *Manifest, path string) (err error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, h), r); errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("this is not all of a backup: %w", err)
	} else if err != nil {
		return fmt.Errorf("write the database: %w", err)
	}
	if hexOf(h) != m.Database {
		return errors.New("the database is not the one that was backed up: its SHA-256 differs")
	}
	return out.Sync()
}

// placeKeys decrypts the keys and writes those that the folder does not hold. It never replaces a key.
func placeKeys(sealed []byte, o RestoreOptions, place func(string) string) error {
	id, err := age.NewScryptIdentity(o.Passphrase)
	if err != nil {
		return fmt.Errorf("use the passphrase: %w", err)
	}
	opened, err := age.Decrypt(bytes.NewReader(sealed), id)
	if err != nil {
		return fmt.Errorf("the passphrase does not open the keys: %w", err)
	}
	r := tar.NewReader(opened)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
		if h.Name != filepath.Base(h.Name) || strings.HasPrefix(h.Name, ".") || h.Size > mostBytes {
			return fmt.Errorf("the keys hold %q, which is no key", h.Name)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
		path := filepath.Join(o.Dir, h.Name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := os.WriteFile(place(path), content, os.FileMode(h.Mode).Perm()&0o644); err != nil {
			return fmt.Errorf("write a key: %w", err)
		}
	}
}
