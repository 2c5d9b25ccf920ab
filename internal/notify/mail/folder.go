package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// maxFiles is how many mails the folder keeps; the oldest are deleted.
const maxFiles = 1000

// folder writes mails as files that only the server's user can read. The files are named by mail ids, so their names sort by
// time.
type folder struct {
	dir  string
	from *mail.Address
}

// send writes the mail atomically. Sending a mail again writes the same file again.
func (f *folder) send(_ context.Context, e *envelope) error {
	m, err := e.compose(f.from, gomail.NoEncoding)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := m.WriteTo(&text); err != nil {
		return fmt.Errorf("write the mail: %w", err)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("make the outbox: %w", err)
	}
	if err := f.write(e.ID+".eml", text.Bytes()); err != nil {
		return fmt.Errorf("write the mail: %w", err)
	}
	return f.prune()
}

func (f *folder) write(name string, text []byte) (err error) {
	tmp, err := os.CreateTemp(f.dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if _, err := tmp.Write(text); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(f.dir, name))
}

// prune deletes the oldest mails beyond maxFiles.
func (f *folder) prune() error {
	entries, err := os.ReadDir(f.dir) // sorted by name
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	var mails []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".eml") {
			mails = append(mails, e.Name())
		}
	}
	for _, name := range mails[:max(0, len(mails)-maxFiles)] {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear the outbox: %w", err)
		}
	}
	return nil
}
