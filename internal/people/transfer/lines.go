package transfer

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"filippo.io/age"
)

// The bounds of a file. An import takes some ten times as much memory as its longest line. Rows of the product are shorter: a body has
// 1 MiB at most, and so have the variables of an execution.
const (
	maxLine     = 32 << 20
	maxHeader   = 1 << 20
	maxSmall    = 1 << 20 // a job, a value of an input, and JSON that is read into lists and maps
	mostColumns = 100     // of a line
)

// lines reads the lines of a file.
type lines struct {
	in *bufio.Scanner
	n  int // the number of the line that was read last; the header is 1
}

// decrypted returns the decrypted lines of a file.
func decrypted(from io.Reader, passphrase string) (*lines, error) {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	id.SetMaxWorkFactor(workFactor) // the file names its own, and age would take 4 GiB for one of 22
	opened, err := age.Decrypt(from, id)
	if err != nil {
		return nil, ErrPassphrase
	}
	debug.FreeOSMemory() // what scrypt has used
	z, err := gzip.NewReader(opened)
	if err != nil {
		return nil, ErrCutOff
	}
	in := bufio.NewScanner(z)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &lines{in: in}, nil
}

// next returns the next line, which is valid until the next call; nil after the last.
func (l *lines) next() ([]byte, error) {
	if !l.in.Scan() {
		switch err := l.in.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return nil, fmt.Errorf("%w: line %d has more than %d MiB", ErrRow, l.n+1, maxLine>>20)
		case err != nil:
			return nil, ErrCutOff
		}
		return nil, nil // the end is no error
	}
	if l.n++; len(l.in.Bytes()) == 0 {
		return nil, ErrCutOff
	}
	return l.in.Bytes(), nil
}

// ended reports whether no line follows.
func (l *lines) ended() bool { return !l.in.Scan() && l.in.Err() == nil }

// elements returns how many values the list of a line has at least, in no memory: a line could be nothing but commas.
func elements(line []byte) int {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}
