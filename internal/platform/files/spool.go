package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"filippo.io/age"
)

// ErrSize is returned for a stream that has fewer or more bytes than were announced.
var ErrSize = errors.New("files: another size than announced")

// Spooled is a file that a stream has brought, encrypted, and not stored yet.
type Spooled struct {
	Size      int64
	SHA256    string // of the bytes in the clear, in hexadecimal
	MediaType string // what the bytes look like
	Head      []byte // the first 256 KiB in the clear, for a look at what an image's size is

	path string
}

// Discard removes the file if it was not stored.
func (s *Spooled) Discard() { _ = os.Remove(s.path) }

// Spool reads exactly size bytes of a stream into an encrypted file in a folder, durably. Returns ErrSize, or the stream's error.
// Nothing is left of a stream that fails.
func Spool(dir string, k Key, from io.Reader, size int64) (*Spooled, error) {
	return spool(dir, k, from, size, size)
}

// SpoolAtMost is Spool for a stream of any size up to most bytes.
func SpoolAtMost(dir string, k Key, from io.Reader, most int64) (*Spooled, error) {
	return spool(dir, k, from, 0, most)
}

func spool(dir string, k Key, from io.Reader, least, most int64) (*Spooled, error) {
	hash, head, size := sha256.New(), &head{}, int64(0)
	path, err := temporary(dir, func(f io.Writer) error {
		sealed, err := age.Encrypt(f, k.identity.Recipient())
		if err != nil {
			return fmt.Errorf("encrypt the file: %w", err)
		}
		if size, err = copyBetween(io.MultiWriter(sealed, hash, head), from, least, most); err != nil {
			return err
		}
		return sealed.Close()
	})
	if err != nil {
		return nil, err
	}
	return &Spooled{Size: size, SHA256: hex.EncodeToString(hash.Sum(nil)), MediaType: mediaType(head.Bytes()), Head: head.Bytes(), path: path}, nil
}

// SpoolSealed spools the encrypted bytes of a file from another store: exactly size of them, as they are. Errors are those of Spool.
func SpoolSealed(dir string, from io.Reader, size int64) (*Spooled, error) {
	path, err := temporary(dir, func(f io.Writer) error {
		_, err := copyBetween(f, from, size, size)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Spooled{Size: size, path: path}, nil
}

// temporary writes a new file in a folder, durably, and returns its path. Nothing is left when write fails.
func temporary(dir string, write func(io.Writer) error) (_ string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of uploads: %w", err)
	}
	f, err := os.CreateTemp(dir, beingSent)
	if err != nil {
		return "", fmt.Errorf("spool the file: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := write(f); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// copyBetween copies a stream of least to most bytes, and returns how many it had. Returns ErrSize for one that has fewer or more.
func copyBetween(to io.Writer, from io.Reader, least, most int64) (int64, error) {
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err == nil && (n < least || n > most) {
		err = ErrSize
	}
	return n, err
}

// head keeps the first bytes of a stream.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), looked-h.Len())])
	return len(p), nil
}

const looked = 256 << 10

// mediaType returns what bytes look like, without parameters. Nothing that a browser would run is told apart from text or bytes.
func mediaType(head []byte) string {
	t, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case t == "text/html", t == "text/xml":
		return "text/plain"
	}
	return t
}
