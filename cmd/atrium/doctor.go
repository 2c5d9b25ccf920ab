package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"entgo.io/ent/dialect"

	"atrium/internal/platform/backup"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
)

type doctorCmd struct {
	dataFlags
	jsonFlag
	DatabaseReadURL string `help:"Replica to look at, as serve would."`
	RedisURL        string `help:"Redis to reach, as serve would."`
	SMTPURL         string `name:"smtp-url" help:"Mail server to reach, as serve would."`
	NoAgents        bool   `help:"No node works runs of agents: their jobs wait."`

	TLSCert    string   `help:"Certificate file that serve uses (default: the one by the CA in the data folder)." type:"path"`
	TLSKey     string   `help:"Key file of the certificate." type:"path"`
	ACMEDomain []string `help:"Names for which serve gets certificates by ACME."`
}

// checkJSON is a check in the JSON output.
type checkJSON struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message"` // what is wrong; empty when the check passed
}

// Run prints one line per check and fails when a check fails. Notes are about what companies should do, and no failure. It changes nothing.
func (m *doctorCmd) Run(ctx context.Context) error {
	var checks []checkJSON
	var lines, notes []string
	bad := 0
	report := func(what string, err error) {
		if err == nil {
			checks, lines = append(checks, checkJSON{Name: what, OK: true}), append(lines, "ok   "+what)
			return
		}
		bad++
		checks = append(checks, checkJSON{Name: what, Message: err.Error()})
		lines = append(lines, fmt.Sprintf("BAD  %s: %v", what, err))
	}
	report("data folder can be written", writable(m.Data))
	src := m.masterKey()
	if src.File != "" {
		report("master key is there and private", private(src.File))
	}
	sealer, err := seal.Open(ctx, src)
	report("master key can be used", err)
	if sealer != nil {
		defer sealer.Close()
	}
	m.checkDatabase(ctx, report, func(list []string) { notes = append(notes, list...) }, sealer)
	m.checkOutside(ctx, report)
	m.checkCertificate(report)
	found := map[string]any{"ok": bad == 0, "checks": checks}
	if len(notes) > 0 {
		found["notes"] = notes
	}
	for _, note := range notes {
		lines = append(lines, "note "+note)
	}
	if err := m.print(found, lines...); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d checks failed", bad)
	}
	return nil
}

// checkDatabase checks the database. It does not create one.
func (m *doctorCmd) checkDatabase(ctx context.Context, report func(string, error), note func([]string), sealer *seal.Sealer) {
	const answers = "database answers"
	if err := m.mustExist(); err != nil {
		report(answers, err)
		return
	}
	s, err := store.Open(ctx, store.Options{DataDir: m.Data, DatabaseURL: m.DatabaseURL, ReadURL: m.DatabaseReadURL})
	report(answers, err)
	if err != nil {
		return
	}
	err = s.CheckVersion(ctx)
	report("database is at this version", err)
	if s.Dialect() == dialect.Postgres {
		report("row-level security binds the database role (dump as another, with BYPASSRLS)", boundByPolicies(ctx, s))
		if err == nil {
			report("the database role may make and drop partitions", ownsTables(ctx, s))
		}
	} else {
		report("database file is whole", backup.CheckIntegrity(ctx, s.Path()))
	}
	if m.DatabaseReadURL != "" {
		report("replica keeps up", s.CheckReplica(ctx))
	}
	if err == nil {
		m.checkRunning(ctx, report, s)
		open, err := openSecrets(ctx, s)
		report("secrets can be listed", err)
		note(open)
	}
	if err == nil && sealer != nil {
		c := &core{flags: m.dataFlags, store: s, sealer: sealer}
		report("master key opens what was sealed", c.checkMasterKey(ctx))
	}
	report("database closes", s.Close())
}

// expiresSoon is how long before its end a certificate is reported. The local CA and ACME renew theirs 30 days before.
const expiresSoon = 14 * 24 * time.Hour

// checkCertificate checks the certificates that serve uses, by the same flags. What does not exist before the first start, or before
// the first call for an ACME name, is no fault.
func (m *doctorCmd) checkCertificate(report func(string, error)) {
	now := time.Now()
	switch {
	case len(m.ACMEDomain) > 0:
		for _, name := range m.ACMEDomain {
			// x/crypto's autocert stores key and chain of a name in one file.
			if file := filepath.Join(m.Data, "acme", name); fileExists(file) {
				report("certificate of "+name+" by ACME is valid", validPair(file, file, name, nil, now))
			}
		}
	case m.TLSCert != "":
		report("certificate is valid", validPair(m.TLSCert, m.TLSKey, "", nil, now))
	case fileExists(filepath.Join(m.Data, "tls.crt")):
		report("local certificate is valid", validLocal(m.Data, now))
	}
}

// validLocal returns an error unless the data folder's certificate is valid and signed by its CA.
func validLocal(dir string, now time.Time) error {
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return errors.New("ca.pem holds no certificate")
	}
	return validPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), "", roots, now)
}

// validPair returns an error unless the certificate matches its key, covers the name if one is given, is signed by a root if roots are
// given, and is valid now and for some time to come.
func validPair(certFile, keyFile, name string, roots *x509.CertPool, now time.Time) error {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return err
	}
	if name != "" {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			return err
		}
	}
	if roots != nil {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err != nil {
			return err
		}
	}
	if now.Before(pair.Leaf.NotBefore) {
		return fmt.Errorf("it is valid from %s", pair.Leaf.NotBefore.Format(time.DateOnly))
	}
	if end := pair.Leaf.NotAfter; now.Add(expiresSoon).After(end) {
		return fmt.Errorf("it ends on %s: renew it", end.Format(time.DateOnly))
	}
	return nil
}

// writable returns an error unless files can be created in the folder.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// private returns an error unless the file exists and only its owner can read it.
func private(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: put it back; before the first start, `atrium serve` makes it", path)
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s may be read by others: chmod 600", path)
	}
	return nil
}

// boundByPolicies returns an error for a role that bypasses row-level security.
func boundByPolicies(ctx context.Context, s *store.Store) error {
	var free bool
	err := s.Pool().QueryRow(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&free)
	if err != nil {
		return fmt.Errorf("look the role up: %w", err)
	}
	if free {
		return errors.New("the role is a superuser or has BYPASSRLS: use one that has neither")
	}
	return nil
}

// ownsTables returns an error for a role that cannot create and drop the partitions of the delivery history. The role must own
// the table, as the role that migrated it does, or be a member of its owner.
func ownsTables(ctx context.Context, s *store.Store) error {
	var may bool
	err := s.Pool().QueryRow(ctx, `SELECT pg_has_role(current_user, relowner, 'USAGE') AND has_schema_privilege(relnamespace, 'CREATE')
		FROM pg_class WHERE oid = 'webhook_deliveries'::regclass`).Scan(&may)
	if err != nil {
		return fmt.Errorf("look the owner up: %w", err)
	}
	if !may {
		return errors.New("the role does not own the tables: use the one that runs `atrium migrate`, or make it a member of that one, " +
			"with CREATE on the schema; until then old deliveries are deleted row by row")
	}
	return nil
}
