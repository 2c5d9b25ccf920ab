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

// common holds the common passwords, folded and in the order of their bytes: one line each, which begins with how many
// bytes it shares with the line before ('0' plus that number, 35 at most), then the rest. commongen writes it.
//
//go:embed common.gz
var common []byte

// isCommon reports whether the folded password is on the list. It reads the list anew, which takes some milliseconds: a
// password is chosen seldom, and nothing of it stays in memory.
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
