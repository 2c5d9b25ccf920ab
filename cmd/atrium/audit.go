package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/principal"
)

type auditKeyCmd struct {
	dataFlags
	jsonFlag
}

// Run prints the public key of the checkpoints' signing key, and the keys of the installations from which companies were
// imported.
func (m *auditKeyCmd) Run(ctx context.Context) (err error) {
	c, err := m.openExisting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	key, err := c.auditKey(ctx)
	if err != nil {
		return err
	}
	former, err := merkle.FormerKeys(ctx, c.store.Reader())
	if err != nil {
		return err
	}
	lines := []string{key.Public}
	for _, id := range slices.Sorted(maps.Keys(former)) {
		for _, key := range former[id] {
			lines = append(lines, id+" before it came here: "+key)
		}
	}
	return m.print(map[string]any{"publicKey": key.Public, "former": former}, lines...)
}

// auditKey returns the signing key of checkpoints. It creates the key if there is none.
func (c *core) auditKey(ctx context.Context) (*merkle.Key, error) {
	if err := merkle.MakeKey(ctx, c.store, c.sealer); err != nil {
		return nil, err
	}
	return merkle.OpenKey(ctx, c.store.Reader(), c.sealer)
}

type auditVerifyCmd struct {
	dataFlags
	jsonFlag
	Company     string `help:"The company's id (co_…), or its sandbox's; all companies without it."`
	Checkpoints string `help:"File of signed checkpoints to hold the logs against." type:"path"`
	Export      string `help:"Verify this export in JSON lines instead, without a database." type:"path"`
	Key         string `help:"Public key that checkpoints must be signed with (default: the installation's)."`
}

// verified is a report with the public key that checkpoints were verified with.
type verified struct {
	merkle.Report
	PublicKey string `json:"publicKey"`
}

// allVerified is the JSON output for all companies.
type allVerified struct {
	Intact    bool            `json:"intact"`
	PublicKey string          `json:"publicKey"`
	Companies []merkle.Report `json:"companies"`
}

var errNotIntact = errors.New("the audit log is not what was sealed")

// Run verifies the logs or an export. It returns an error unless they are intact.
func (m *auditVerifyCmd) Run(ctx context.Context) (err error) {
	if m.Export != "" && m.Checkpoints != "" {
		return errors.New("--checkpoints are held against the logs of a database; an export has its own checkpoint: leave one of them out")
	}
	if m.Key != "" {
		if _, err := note.NewVerifier(m.Key); err != nil {
			return fmt.Errorf("--key: %w", err)
		}
	}
	if m.Export != "" && m.Key != "" {
		return m.export(m.Key)
	}
	c, err := m.openExisting(ctx)
	if err != nil {
		if m.Export != "" {
			return fmt.Errorf("--export needs --key where there is no installation: %w", err)
		}
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	key := m.Key
	if key == "" {
		own, err := c.auditKey(ctx)
		if err != nil {
			return err
		}
		key = own.Public
	}
	if m.Export != "" {
		return m.export(key)
	}
	return m.logs(ctx, c, key)
}

// export verifies an exported file without a database.
func (m *auditVerifyCmd) export(key string) (err error) {
	f, err := os.Open(m.Export)
	if err != nil {
		return fmt.Errorf("open the export: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	report, err := merkle.VerifyExport(f, key)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Export, err)
	}
	if m.Company != "" && report.Company != m.Company {
		return fmt.Errorf("--company: the export is of %s", cmp.Or(report.Company, "no company: nothing in it was sealed"))
	}
	return m.one(report, key)
}

// logs verifies the logs of one company or of all.
func (m *auditVerifyCmd) logs(ctx context.Context, c *core, key string) error {
	kept, err := m.checkpoints(ctx, c, key)
	if err != nil {
		return err
	}
	sys := principal.System(ctx, "the operator verifies the logs of all companies")
	companies, err := c.store.Reader().Company.Query().IDs(sys)
	if err != nil {
		return fmt.Errorf("list the companies: %w", err)
	}
	slices.Sort(companies)
	if m.Company != "" {
		if !slices.Contains(companies, m.Company) {
			return fmt.Errorf("--company: there is no company %q", m.Company)
		}
		report, err := merkle.Verify(ctx, c.store.Reader(), m.Company, kept[m.Company])
		if err != nil {
			return err
		}
		return m.one(report, key)
	}
	all := allVerified{Intact: true, PublicKey: key, Companies: []merkle.Report{}}
	var lines []string
	for _, id := range companies {
		report, err := merkle.Verify(ctx, c.store.Reader(), id, kept[id])
		if err != nil {
			return err
		}
		all.Companies = append(all.Companies, report)
		all.Intact = all.Intact && report.Intact
		lines = append(lines, said(report))
	}
	if err := m.print(all, append(lines, "key  "+key)...); err != nil || all.Intact {
		return err
	}
	return errNotIntact
}

// one prints one report. It returns errNotIntact unless the log is intact.
func (m *auditVerifyCmd) one(r merkle.Report, key string) error {
	if err := m.print(verified{r, key}, said(r), "key  "+key); err != nil || r.Intact {
		return err
	}
	return errNotIntact
}

// checkpoints reads the file of checkpoints. It returns them by company, ordered by size, and an error if there are none to compare with.
func (m *auditVerifyCmd) checkpoints(ctx context.Context, c *core, key string) (map[string][]merkle.Checkpoint, error) {
	out := map[string][]merkle.Checkpoint{}
	if m.Checkpoints == "" {
		return out, nil
	}
	b, err := os.ReadFile(m.Checkpoints)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints: %w", err)
	}
	former, err := merkle.FormerKeys(ctx, c.store.Reader())
	if err != nil {
		return nil, err
	}
	all, err := merkle.ReadCheckpoints(b, key, former)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Checkpoints, err)
	}
	for _, c := range all {
		out[c.Company] = append(out[c.Company], c)
	}
	if len(all) == 0 || m.Company != "" && len(out[m.Company]) == 0 {
		return nil, fmt.Errorf("%s holds no checkpoint of %s", m.Checkpoints, cmp.Or(m.Company, "any log"))
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b merkle.Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	}
	return out, nil
}

// said formats a report as a line of text.
func said(r merkle.Report) string {
	out := fmt.Sprintf("%s  %d entries, %d waiting, %d erased in part, root %s: ", cmp.Or(r.Company, "(no company)"), r.Size, r.Unsealed, r.Erased, r.RootHash)
	if r.Intact {
		return out + "intact"
	}
	return out + fmt.Sprintf("NOT INTACT at %d: %s", *r.BrokenAt, strings.TrimSpace(r.Reason))
}
