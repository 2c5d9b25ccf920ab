package password

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
)

// common is the list of common passwords, folded and sorted by bytes. Each line begins with the number of bytes that it shares
// with the line before (the character '0' plus that number, at most 35); the rest follows. commongen writes it.
//
//go:embed common.gz
var common []byte

// isCommon reports whether the folded password is on the list. It decompresses the list at each call, which takes some
// milliseconds: passwords are chosen rarely, and the list takes no memory between calls.
func isCommon(folded string) (bool, error) {
	z, err := gzip.NewReader(bytes.NewReader(common))
	if err != nil {
		return false, fmt.Errorf("read the common passwords: %w", err)
	}
	lines := bufio.NewReader(z)
	var word []byte
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil || len(line) < 2 || int(line[0])-'0' > len(word) {
			return false, fmt.Errorf("read the common passwords: damaged list: %w", err)
		}
		word = append(word[:line[0]-'0'], line[1:len(line)-1]...)
		switch c := bytes.Compare(word, []byte(folded)); {
		case c == 0:
			return true, nil
		case c > 0:
			return false, nil
		}
	}
}
