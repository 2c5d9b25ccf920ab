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
func Spool(dir string, k Key, from io.Reader, size int64) (_ *Spooled, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of uploads: %w", err)
	}
	f, err := os.CreateTemp(dir, ".upload-")
	if err != nil {
		return nil, fmt.Errorf("spool the file: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	hash, head := sha256.New(), &head{}
	sealed, err := age.Encrypt(f, k.identity.Recipient())
	if err != nil {
		return nil, fmt.Errorf("encrypt the file: %w", err)
	}
	n, err := io.Copy(io.MultiWriter(sealed, hash, head), io.LimitReader(from, size+1))
	if err == nil && n != size {
		err = ErrSize
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(sealed.Close(), f.Sync()); err != nil {
		return nil, fmt.Errorf("spool the file: %w", err)
	}
	return &Spooled{Size: n, SHA256: hex.EncodeToString(hash.Sum(nil)), MediaType: mediaType(head.Bytes()), Head: head.Bytes(), path: f.Name()}, nil
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
