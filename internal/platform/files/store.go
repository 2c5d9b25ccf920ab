package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"atrium/internal/platform/id"
)

// ErrNotFound is returned for a key under which nothing is stored.
var ErrNotFound = errors.New("files: no such file")

// Store keeps encrypted files. Safe for concurrent use.
type Store interface {
	// Put stores what a spool has taken under a key, durably. It consumes the spool's file.
	Put(ctx context.Context, key string, s *Spooled) error
	// Open opens the encrypted file of a key. Returns ErrNotFound.
	Open(ctx context.Context, key string) (Stored, error)
	// Delete removes the file of a key; none is no fault.
	Delete(ctx context.Context, key string) error
	// List calls each with every key and the time at which its file was stored, in no order, until each returns an error. What has no key
	// is left out: others may keep something there, too.
	List(ctx context.Context, each func(key string, at time.Time) error) error
}

// Stored is an encrypted file.
type Stored interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// NewKey returns a new key for a file of a company.
func NewKey(companyID string) string { return companyID + "/" + id.New("file") }

// OfCompany reports whether a key is one that NewKey could have made for a company.
func OfCompany(key, companyID string) bool {
	name, ok := strings.CutPrefix(key, companyID+"/")
	return ok && valid(key) && id.Valid("file", name)
}

// valid reports whether a key stays within the store.
func valid(key string) bool {
	company, name, ok := strings.Cut(key, "/")
	return ok && plain(company) && plain(name)
}

func plain(s string) bool {
	return s != "" && !strings.HasPrefix(s, ".") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == ""
}

// Folder is a Store in a folder: one file for each key, in a folder for each company.
type Folder struct{ root string }

// NewFolder returns the store in a folder, which the first file creates.
func NewFolder(root string) *Folder { return &Folder{root} }

func (f *Folder) at(key string) (string, error) {
	if !valid(key) {
		return "", fmt.Errorf("files: %q is no key", key)
	}
	return filepath.Join(f.root, filepath.FromSlash(key)), nil
}

// Put moves the spool's file to its place. The spool is best on the same file system: on another one the bytes are copied.
func (f *Folder) Put(_ context.Context, key string, s *Spooled) error {
	to, err := f.at(key)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return fmt.Errorf("make the company's folder: %w", err)
		}
		err := move(s.path, to)
		switch {
		case err == nil:
			return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(f.root))
		case tries == 2 || !errors.Is(err, fs.ErrNotExist): // the company's last file was deleted at this moment, with its folder
			return err
		}
	}
}

// move renames a file, or copies it to another file system.
func move(from, to string) error {
	err := os.Rename(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// copyFile copies a file to another file system, complete or not at all.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("read the spooled file: %w", err)
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.CreateTemp(filepath.Dir(to), beingCopied)
	if err != nil {
		return fmt.Errorf("store the file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("store the file: %w", err)
	}
	return os.Rename(out.Name(), to)
}

// SyncFolder makes new entries of a folder durable.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("write the folder: %w", err)
	}
	return nil
}

// Open opens the file of a key.
func (f *Folder) Open(_ context.Context, key string) (Stored, error) {
	at, err := f.at(key)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	about, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return onDisk{file, about.Size()}, nil
}

type onDisk struct {
	*os.File
	size int64
}

func (f onDisk) Size() int64 { return f.size }

// Delete removes the file of a key, and the folders that are empty without it.
func (f *Folder) Delete(_ context.Context, key string) error {
	at, err := f.at(key)
	if err != nil {
		return err
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the file: %w", err)
	}
	if os.Remove(filepath.Dir(at)) == nil { // fails unless it is empty
		_ = os.Remove(f.root) // likewise
	}
	return nil
}

// List calls each with the keys of all files.
func (f *Folder) List(ctx context.Context, each func(key string, at time.Time) error) error {
	return filepath.WalkDir(f.root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile, or nothing was stored yet
		}
		if err != nil || d.IsDir() {
			return err
		}
		about, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the folder of files: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := filepath.Rel(f.root, name)
		if err != nil || !valid(filepath.ToSlash(key)) {
			return nil // it is no file of the store
		}
		return each(filepath.ToSlash(key), about.ModTime())
	})
}

// RemoveBroken removes what a copy to another file system, before a moment, has left when it broke off.
func (f *Folder) RemoveBroken(before time.Time) error {
	companies, err := os.ReadDir(f.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for broken files: %w", err)
	}
	var errs []error
	for _, d := range companies {
		if d.IsDir() {
			errs = append(errs, removeAll(filepath.Join(f.root, d.Name()), beingCopied, before))
		}
	}
	return errors.Join(errs...)
}

// RemoveBroken removes what uploads to a spool's folder, before a moment, have left when their process ended.
func RemoveBroken(dir string, before time.Time) error {
	return removeAll(dir, beingSent, before)
}

// The beginnings of the names of files that are being written.
const (
	beingCopied = ".put-"
	beingSent   = ".upload-"
)

func removeAll(dir, prefix string, before time.Time) error {
	all, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for broken files: %w", err)
	}
	for _, d := range all {
		if !strings.HasPrefix(d.Name(), prefix) || !d.Type().IsRegular() {
			continue
		}
		about, err := d.Info()
		if err == nil && about.ModTime().Before(before) {
			err = os.Remove(filepath.Join(dir, d.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a broken file: %w", err)
		}
	}
	return nil
}

// Key is what a company's files are encrypted under.
type Key struct{ identity *age.X25519Identity }

// MakeKey returns a new key, and the text that ReadKey reads it from.
func MakeKey() (Key, string, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return Key{}, "", fmt.Errorf("make the key of files: %w", err)
	}
	return Key{identity}, identity.String(), nil
}

// ReadKey returns the key that MakeKey has written.
func ReadKey(text string) (Key, error) {
	identity, err := age.ParseX25519Identity(text)
	if err != nil {
		return Key{}, errors.New("files: no key") // age's error repeats the text
	}
	return Key{identity}, nil
}

// File is a stored file in the clear.
type File struct {
	io.ReaderAt
	Size   int64
	stored Stored
}

// Close closes the file.
func (f *File) Close() error { return f.stored.Close() }

// Open opens the file of a key in the clear.
func Open(ctx context.Context, s Store, key string, k Key) (*File, error) {
	stored, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	plain, size, err := age.DecryptReaderAt(stored, stored.Size(), k.identity)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decrypt the file: %w", err), stored.Close())
	}
	return &File{plain, size, stored}, nil
}
