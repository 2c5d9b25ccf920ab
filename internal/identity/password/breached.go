package password

import (
	"bytes"
	"crypto/sha1" // what files of breached passwords are keyed by; it protects nothing here
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Limits of a file of breached passwords.
const (
	minPrefix = 10  // hex digits: with fewer, chance matches would refuse many good passwords
	maxLine   = 128 // bytes
)

// Breached is a file of SHA-1 hashes of breached passwords. It is searched on disk, so it may be larger than memory. Safe for
// concurrent use.
type Breached struct {
	file io.ReaderAt
	size int64
	hex  int // digits of each line's hash
	io.Closer
}

// OpenBreached opens a file in the sorted format of Have I Been Pwned's lists. Each line holds a SHA-1 hash in hex, or its
// first 10 or more digits, the same number in every line. A colon and a count may follow. Returns an error when the first or
// the last line does not have this form, or when they are not in order.
func OpenBreached(path string) (*Breached, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the breached passwords: %w", err)
	}
	b := &Breached{file: f, Closer: f}
	if err := b.inspect(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open the breached passwords: %w", err), f.Close())
	}
	return b, nil
}

// inspect reads the file's size and the length of its hashes.
func (b *Breached) inspect(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	b.size = info.Size()
	first, _, err := b.line(0)
	if err != nil {
		return err
	}
	b.hex = len(first)
	last, _, err := b.lineFrom(max(0, b.size-2*maxLine), true)
	if err != nil {
		return err
	}
	if len(first) != len(last) || first > last {
		return errors.New("the lines are not sorted hashes of one length")
	}
	return nil
}

// Contains reports whether the password's hash is in the file.
func (b *Breached) Contains(plain string) (bool, error) {
	sum := sha1.Sum([]byte(plain))
	want := strings.ToUpper(hex.EncodeToString(sum[:]))[:b.hex]
	low, high := int64(0), b.size // bounds of where the line with want may begin
	for low < high {
		mid := low + (high-low)/2
		start := mid
		if mid > 0 {
			next, err := b.next(mid - 1)
			if err != nil {
				return false, err
			}
			start = next
		}
		if start >= high {
			high = mid
			continue
		}
		got, end, err := b.line(start)
		if err != nil {
			return false, err
		}
		switch {
		case got == want:
			return true, nil
		case got < want:
			low = end
		default:
			high = mid
		}
	}
	return false, nil
}

// next returns the start of the first line that begins after the byte at off.
func (b *Breached) next(off int64) (int64, error) {
	buf, err := b.read(off)
	if err != nil {
		return 0, err
	}
	if i := bytes.IndexByte(buf, '\n'); i >= 0 {
		return off + int64(i) + 1, nil
	}
	if off+int64(len(buf)) < b.size {
		return 0, errors.New("read the breached passwords: a line is too long")
	}
	return b.size, nil
}

// line returns the hash in the line that begins at off, in upper case, and the start of the next line.
func (b *Breached) line(off int64) (hash string, end int64, err error) { return b.lineFrom(off, false) }

// lineFrom does what line does; with last it reads the last line of the file instead, which must begin after off.
func (b *Breached) lineFrom(off int64, last bool) (hash string, end int64, err error) {
	buf, err := b.read(off)
	if err != nil {
		return "", 0, err
	}
	text, end := buf, b.size
	if last {
		text = bytes.TrimRight(buf, "\r\n")
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	} else if i := bytes.IndexByte(buf, '\n'); i >= 0 {
		text, end = buf[:i], off+int64(i)+1
	}
	text, _, _ = bytes.Cut(bytes.TrimRight(text, "\r"), []byte(":"))
	hash = strings.ToUpper(string(text))
	if len(hash) < minPrefix || len(hash) > 2*sha1.Size || strings.Trim(hash, "0123456789ABCDEF") != "" || b.hex > 0 && len(hash) != b.hex {
		return "", 0, fmt.Errorf("read the breached passwords: no line of hex digits at byte %d", off)
	}
	return hash, end, nil
}

// read returns 2*maxLine bytes from off on, less at the end of the file.
func (b *Breached) read(off int64) ([]byte, error) {
	buf := make([]byte, 2*maxLine)
	n, err := b.file.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the breached passwords: %w", err)
	}
	return buf[:n], nil
}
