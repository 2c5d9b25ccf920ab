package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filippo.io/age"

	"atrium/internal/platform/files"
	"atrium/internal/platform/store"
)

// The files within a backup.
const (
	manifestName = "manifest.json"
	databaseName = "atrium.db"
	keysName     = "keys.tar.age"
	filesName    = "files/" // before the key of each attached file
)

const format = 2 // 1 had no attached files

// Manifest describes a backup.
type Manifest struct {
	Format   int       `json:"format"`
	Version  string    `json:"version"` // of the program that made it
	At       time.Time `json:"at"`
	Database string    `json:"databaseSha256"` // in hexadecimal
	Bytes    int64     `json:"databaseBytes"`
	Keys     bool      `json:"keys"`      // whether the backup contains the master key
	Files    int       `json:"files"`     // attached files
	OfFiles  int64     `json:"fileBytes"` // of all of them, encrypted
}

// MasterKey is the name of the master key among the keys.
const MasterKey = "master.key"

// KeyFile is a file that a restore writes into the data folder.
type KeyFile struct {
	Name    string
	Content []byte
}

// Options say what to back up and how.
type Options struct {
	Database   string // path of the SQLite file
	Files      files.Store
	Keys       []KeyFile // empty without a passphrase
	Passphrase string
	Version    string
	Now        time.Time
	Check      func(ctx context.Context, database string) error // checks the copy beyond what SQLite can check
}

// Write creates the backup file. It returns an error if the file exists, so that a mistyped name overwrites nothing. A failure
// leaves no file behind.
func Write(ctx context.Context, to string, o Options) (_ *Manifest, err error) {
	if _, err := os.Lstat(to); err == nil {
		return nil, fmt.Errorf("%s is there already, and is not replaced", to)
	}
	dir, err := os.MkdirTemp(filepath.Dir(to), ".backup-")
	if err != nil {
		return nil, fmt.Errorf("make a folder beside the backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	copied := filepath.Join(dir, databaseName)
	if err := copyDatabase(ctx, o.Database, copied); err != nil {
		return nil, err
	}
	if err := check(ctx, copied, o.Check); err != nil {
		return nil, fmt.Errorf("the copy is not sound: %w", err)
	}
	m := &Manifest{Format: format, Version: o.Version, At: o.Now.UTC(), Keys: slices.ContainsFunc(o.Keys, isMasterKey)}
	if m.Database, m.Bytes, err = digest(copied); err != nil {
		return nil, err
	}
	if err := eachFile(ctx, copied, func(key string) error {
		f, err := open(ctx, o.Files, key)
		if err != nil {
			return err
		}
		m.Files, m.OfFiles = m.Files+1, m.OfFiles+f.Size()
		return f.Close()
	}); err != nil {
		return nil, err
	}
	whole := filepath.Join(dir, "whole")
	if err := writeArchive(ctx, whole, m, copied, o); err != nil {
		return nil, err
	}
	if err := os.Link(whole, to); err != nil { // unlike a rename, a link never replaces a file
		return nil, fmt.Errorf("put the backup in its place: %w", err)
	}
	return m, files.SyncFolder(filepath.Dir(to))
}

func isMasterKey(k KeyFile) bool { return k.Name == MasterKey }

// copyDatabase writes a consistent snapshot of the database from to the file to.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	db, err := store.OpenSQLiteFile(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return os.Chmod(to, 0o600)
}

// check runs SQLite's own checks, then the caller's.
func check(ctx context.Context, path string, further func(context.Context, string) error) error {
	if err := CheckIntegrity(ctx, path); err != nil {
		return err
	}
	return further(ctx, path)
}

// CheckIntegrity checks the pages, indexes and foreign keys of a SQLite file, and returns an error for the first fault.
func CheckIntegrity(ctx context.Context, path string) error {
	db, err := store.OpenSQLiteFile(path)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	for _, question := range []string{"PRAGMA integrity_check(1)", "SELECT 'a foreign key of ' || \"table\" || ' points nowhere' FROM pragma_foreign_key_check LIMIT 1"} {
		var answer string
		err := db.QueryRowContext(ctx, question).Scan(&answer)
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && answer == "ok":
		case err != nil:
			return fmt.Errorf("check the database: %w", err)
		default:
			return errors.New(answer)
		}
	}
	return nil
}

func digest(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("read the copy: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, fmt.Errorf("read the copy: %w", err)
	}
	return hexOf(h), size, nil
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func writeArchive(ctx context.Context, path string, m *Manifest, database string, o Options) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the backup: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := tar.NewWriter(f)
	about, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if err := add(w, manifestName, append(about, '\n'), o.Now); err != nil {
		return err
	}
	if len(o.Keys) > 0 {
		sealed, err := sealKeys(o)
		if err != nil {
			return err
		}
		if err := add(w, keysName, sealed, o.Now); err != nil {
			return err
		}
	}
	if err := addFile(w, database, m.Bytes, o.Now); err != nil {
		return err
	}
	if err := eachFile(ctx, database, func(key string) error { return addStored(ctx, w, o, key) }); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	return nil
}

func add(w *tar.Writer, name string, content []byte, at time.Time) error {
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: at})
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func addFile(w *tar.Writer, path string, size int64, at time.Time) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := w.WriteHeader(&tar.Header{Name: databaseName, Mode: 0o600, Size: size, ModTime: at}); err != nil {
		return fmt.Errorf("write the database: %w", err)
	}
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("write the database: %w", err)
	}
	return nil
}

// sealKeys encrypts the key files under the passphrase.
func sealKeys(o Options) ([]byte, error) {
	to, err := age.NewScryptRecipient(o.Passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	var out bytes.Buffer
	sealed, err := age.Encrypt(&out, to)
	if err != nil {
		return nil, fmt.Errorf("encrypt the keys: %w", err)
	}
	w := tar.NewWriter(sealed)
	for _, key := range o.Keys {
		if err := add(w, key.Name, key.Content, o.Now); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), sealed.Close()); err != nil {
		return nil, fmt.Errorf("encrypt the keys: %w", err)
	}
	return out.Bytes(), nil
}
