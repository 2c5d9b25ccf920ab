package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/people/transfer"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// importTime limits the duration of an import, which is one transaction.
const importTime = 12 * time.Hour

type companyExportCmd struct {
	dataFlags
	jsonFlag
	passphraseFlag
	Company string `required:"" help:"The live company's id (co_…); its sandbox goes with it."`
	To      string `required:"" help:"The file to make; one that is there is not replaced." type:"path"`
}

// Run exports a company into a file, as of one moment.
func (m *companyExportCmd) Run(ctx context.Context) error {
	passphrase, err := m.needed()
	if err != nil {
		return err
	}
	return m.inCompany(ctx, m.Company, "company export", func(ctx context.Context, c *core) (err error) {
		key, err := c.auditKey(ctx)
		if err != nil {
			return err
		}
		stored, err := m.files(ctx)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(m.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("--to: %w", err)
		}
		defer func() {
			if err = errors.Join(err, file.Close()); err != nil {
				err = errors.Join(err, os.Remove(m.To))
			}
		}()
		err = c.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			p, _ := principal.From(ctx)
			e := audit.By(p)
			e.Action, e.Resource, e.ResourceID = "company.exported", "Company", m.Company
			return audit.Write(ctx, tx.Client, e)
		})
		if err != nil {
			return err
		}
		out, err := (&transfer.Exporter{Store: c.store, Sealer: c.sealer, Key: key, Files: stored}).Export(ctx, m.Company, passphrase, file)
		if err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("--to: %w", err)
		}
		return m.print(out, fmt.Sprintf("exported %d rows and %d files of %s and its sandbox", out.Rows, out.Files, out.Company))
	})
}

type companyImportCmd struct {
	dataFlags
	jsonFlag
	passphraseFlag
	From   string   `required:"" help:"The file of an export." type:"path"`
	Accept []string `enum:"plan,limits,billing,payment-method,secret-hosts,texts" help:"What the company shall have because the file says so: plan, limits, billing, payment-method, secret-hosts, texts. Without it the import says what the file asks for."`
}

// Run imports an exported company, in full or not at all, into an existing installation or a new one.
func (m *companyImportCmd) Run(ctx context.Context) (err error) {
	passphrase, err := m.needed()
	if err != nil {
		return err
	}
	file, err := os.Open(m.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	m.writeTime = importTime
	c, err := m.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	stored, err := m.files(ctx)
	if err != nil {
		return err
	}
	im := transfer.Importer{Store: c.store, Sealer: c.sealer, Queue: c.queue, Files: stored, Spool: m.spoolDir(), Accept: m.Accept, Invite: c.mails.Invite}
	out, err := im.Import(ctx, file, passphrase)
	if err != nil {
		return err
	}
	// Sealers look back a minute as a rule, and the entries that the old installation had not sealed are older.
	sealer := merkle.NewSealer(c.store, c.log)
	if err := errors.Join(sealer.SealCompany(ctx, out.Company), sealer.SealCompany(ctx, out.Sandbox)); err != nil {
		c.log.WarnContext(ctx, "audit entries wait for a node to seal them", "error", err)
	}
	return m.print(out, fmt.Sprintf("imported %d rows and %d files of %s and its sandbox; its audit log is what it was; %d people have accounts here and are invited", out.Rows, out.Files, out.Company, out.Invited))
}

// needed returns the passphrase for a command that requires one.
func (f passphraseFlag) needed() (string, error) {
	passphrase, err := f.passphrase()
	if err == nil && passphrase == "" {
		err = errors.New("--passphrase-file: the file is encrypted under a passphrase")
	}
	return passphrase, err
}
