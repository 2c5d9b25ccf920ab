package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/backup"
	"atrium/internal/platform/principal"
	"atrium/internal/secret"
)

var errPostgresTools = errors.New("this is for SQLite: PostgreSQL is backed up by its own tools (pg_dump, WAL archiving), as cmd/atrium/deploy/README.md says")

// passphraseFlag takes the passphrase from a file, so that it never appears in a list of processes.
type passphraseFlag struct {
	PassphraseFile string `help:"File of the passphrase that keys are encrypted under." type:"path"`
}

// passphrase reads the passphrase without the trailing newline; "" without a file.
func (f passphraseFlag) passphrase() (string, error) {
	if f.PassphraseFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(f.PassphraseFile)
	if err != nil {
		return "", fmt.Errorf("--passphrase-file: %w", err)
	}
	if b = bytes.TrimRight(b, "\r\n"); len(b) < 8 {
		return "", errors.New("--passphrase-file: a passphrase has 8 characters or more")
	}
	return string(b), nil
}

type backupCmd struct {
	dataFlags
	jsonFlag
	passphraseFlag
	To       string `required:"" help:"The file to make; one that is there is not replaced." type:"path"`
	WithKeys bool   `help:"Put the master key and the local CA in, encrypted under the passphrase. A master key in a KMS stays there."`
}

// Run makes a backup of a data folder while a server uses it. It succeeds only after the copy has been checked.
func (m *backupCmd) Run(ctx context.Context) error {
	if m.DatabaseURL != "" {
		return errPostgresTools
	}
	if err := m.mustExist(); err != nil {
		return err
	}
	passphrase, err := m.passphrase()
	if err != nil {
		return err
	}
	if m.WithKeys != (passphrase != "") {
		return errors.New("--with-keys and --passphrase-file go together")
	}
	stored, err := m.files(ctx)
	if err != nil {
		return err
	}
	o := backup.Options{Database: m.sqliteFile(), Files: stored, Passphrase: passphrase, Version: programVersion(), Now: time.Now()}
	if m.WithKeys {
		if o.Keys, err = m.keyFiles(); err != nil {
			return err
		}
	}
	o.Check = func(ctx context.Context, copied string) error {
		there := m.dataFlags
		there.Data = filepath.Dir(copied)
		if key := m.masterKey(); key.File != "" {
			there.MasterKeyFile = key.File
		}
		return there.verifyInstallation(ctx, false)
	}
	made, err := backup.Write(ctx, m.To, o)
	if err != nil {
		return err
	}
	keys := "without keys: keep the master key elsewhere"
	switch {
	case made.Keys:
		keys = "with keys"
	case m.WithKeys:
		keys = "with the local CA; the master key stays in the KMS"
	}
	return m.print(made, fmt.Sprintf("backed up %d bytes and %d attached files of %d bytes, checked, %s", made.Bytes, made.Files, made.OfFiles, keys))
}

// keyFiles returns the files that an installation needs beside the database: the master key, unless a KMS has it, and what there is
// of the local CA.
func (f dataFlags) keyFiles() (out []backup.KeyFile, err error) {
	master, err := f.masterKey().KeyFile()
	if err != nil {
		return nil, err
	}
	if master != nil {
		out = append(out, backup.KeyFile{Name: backup.MasterKey, Content: master})
	}
	for _, name := range []string{"ca.key", "ca.pem", "tls.key", "tls.crt"} {
		content, err := os.ReadFile(filepath.Join(f.Data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a key: %w", err)
		}
		out = append(out, backup.KeyFile{Name: name, Content: content})
	}
	return out, nil
}

type restoreCmd struct {
	dataFlags
	jsonFlag
	passphraseFlag
	From string `required:"" help:"The backup." type:"path"`
}

// Run restores a backup into a data folder that has no database, migrates it to this version and checks it. A refused restore
// leaves nothing behind.
func (m *restoreCmd) Run(ctx context.Context) error {
	if m.DatabaseURL != "" {
		return errPostgresTools
	}
	passphrase, err := m.passphrase()
	if err != nil {
		return err
	}
	stored, err := m.files(ctx)
	if err != nil {
		return err
	}
	made, err := backup.Read(ctx, m.From, backup.RestoreOptions{Dir: m.Data, Files: stored, Spool: m.spoolDir(), Passphrase: passphrase, Check: func(ctx context.Context, _ string) error {
		if key := m.masterKey(); key.File != "" && !fileExists(key.File) {
			return fmt.Errorf("the master key %s is missing: put it there, or give --passphrase-file for a backup with keys", key.File)
		}
		return m.verifyInstallation(ctx, true)
	}})
	if errors.Is(err, backup.ErrOccupied) {
		return fmt.Errorf("--data: %w", err)
	}
	if err != nil {
		return err
	}
	return m.print(made, fmt.Sprintf("restored %d bytes and %d attached files of %s, checked", made.Bytes, made.Files, made.At.Format(time.RFC3339)))
}

// verifyInstallation returns an error unless the installation's secrets can be opened and every company's audit log is intact.
// migrates allows it to migrate the database first.
func (f dataFlags) verifyInstallation(ctx context.Context, migrates bool) (err error) {
	c, err := f.build(ctx, nil, migrates)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	sys := principal.System(ctx, "a backup is of all companies")
	if err := secret.OpenAll(sys, c.store.Reader(), c.sealer); err != nil {
		return err
	}
	companies, err := c.store.Reader().Company.Query().IDs(sys)
	if err != nil {
		return fmt.Errorf("list the companies: %w", err)
	}
	for _, id := range companies {
		report, err := merkle.Verify(ctx, c.store.Reader(), id, nil)
		if err != nil {
			return err
		}
		if !report.Intact {
			return fmt.Errorf("%s: %w", said(report), errNotIntact)
		}
	}
	return nil
}
