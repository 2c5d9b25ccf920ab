package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atrium/authz"
	"atrium/ent/setting"
	"atrium/internal/clock"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/mail"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/seal"
	"atrium/internal/store"
)

// dataFlags say where rows and keys are; every command takes them.
type dataFlags struct {
	Data          string `default:"./data" help:"Folder of the SQLite file, the certificate and the master key." type:"path"`
	DatabaseURL   string `help:"PostgreSQL 15 or later, as postgres://…; without it, SQLite in the data folder."`
	MasterKeyFile string `help:"File of the key that secrets are sealed under (default: master.key in the data folder). $ATRIUM_MASTER_KEY may hold the key itself, in base64, instead of a file." type:"path"`
	MasterKeyURI  string `help:"Key in a KMS (hcvault://…, aws-kms://…) in place of a file."`
	PolicyDir     string `help:"Folder of the operator's own policies: *.rego in the package atrium.operator. They are read again when they change." type:"path"`
	LogLevel      string `default:"info" enum:"debug,info,warn,error" help:"Least level that is logged."`
}

// core is what every command works on.
type core struct {
	flags   dataFlags
	log     *slog.Logger
	clock   *clock.Clock
	clockMu sync.Mutex // of moveTo
	store   *store.Store
	engine  *op.Engine
	keys    *identity.Keys
	sealer  *seal.Sealer
	outbox  *mail.Outbox
	letters *account.Letters
}

// open opens the database, brings it to this version and builds what operations run on, in order.
func (f dataFlags) open(ctx context.Context) (*core, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, fmt.Errorf("read the log level: %w", err)
	}
	c := &core{flags: f, clock: &clock.Clock{}, log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))}
	if err := f.prepare(); err != nil {
		return nil, err
	}
	var err error
	if c.store, err = store.Open(ctx, store.Options{DataDir: f.Data, DatabaseURL: f.DatabaseURL, Clock: c.clock}); err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if err := c.build(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// prepare makes the data folder and, where rows live in it, the file that holds them: readable by nobody else, like
// the files that SQLite puts beside it.
func (f dataFlags) prepare() error {
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if f.DatabaseURL != "" {
		return nil
	}
	file, err := os.OpenFile(f.sqliteFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return file.Close() //nolint:wrapcheck // nothing was written
}

// sqliteFile is where the store keeps rows without a database URL.
func (f dataFlags) sqliteFile() string { return filepath.Join(f.Data, "atrium.db") }

func (c *core) build(ctx context.Context) error {
	if _, err := c.store.Migrate(ctx); err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	if err := c.readClock(ctx); err != nil {
		return err
	}
	var err error
	if c.sealer, err = c.openSealer(ctx); err != nil {
		return err
	}
	if err := c.checkMasterKey(ctx); err != nil {
		return err
	}
	decider, err := authz.New(ctx, authz.Options{PolicyDir: c.flags.PolicyDir})
	if err != nil {
		return fmt.Errorf("load the policies: %w", err)
	}
	c.keys = identity.NewKeys(c.store, c.sealer)
	c.engine = &op.Engine{Store: c.store, Authz: decider, Sealer: c.sealer, Log: c.log, Decisions: op.NewDecisions(c.store, c.log, sampledDecisions)}
	return nil
}

func (c *core) close() error {
	if c.sealer != nil {
		c.sealer.Close()
	}
	return c.store.Close() //nolint:wrapcheck // says what it was doing
}

// sampledDecisions is the share of allowed decisions that the decision log keeps; it keeps every refusal.
const sampledDecisions = 0.01

// The installation's settings.
const (
	settingClock   = "dev_clock_offset"
	settingBaseURL = "base_url"
	settingAuthURL = "auth_url"
	settingCAFile  = "ca_file"
	settingDemo    = "demo"
)

// setting returns a value of the installation; empty when it is not set.
func (c *core) setting(ctx context.Context, name string) (string, error) {
	rows, err := c.store.Reader().Setting.Query().Where(setting.ID(name)).All(principal.System(ctx, "settings belong to the installation"))
	if err != nil {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	if len(rows) == 0 {
		return "", nil
	}
	return rows[0].Value, nil
}

// set writes a value of the installation.
func (c *core) set(ctx context.Context, name, value string) error {
	write := func() error {
		return c.store.Write(principal.System(ctx, "settings belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.Setting.Update().Where(setting.ID(name)).SetValue(value).Save(ctx)
			if err == nil && n == 0 {
				err = tx.Setting.Create().SetID(name).SetValue(value).Exec(ctx)
			}
			return err
		})
	}
	err := write()
	if v, ok := errors.AsType[*store.Violation](err); ok && v.Kind == store.Unique {
		err = write() // another node made the row meanwhile
	}
	if err != nil {
		return fmt.Errorf("write the setting %s: %w", name, err)
	}
	return nil
}

// readClock sets the product's time to where a development server has moved it.
func (c *core) readClock(ctx context.Context) error {
	value, err := c.setting(ctx, settingClock)
	if err != nil || value == "" {
		return err
	}
	offset, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("read the development clock: %w", err)
	}
	c.moveTo(offset)
	return nil
}

// moveTo sets how far the product's time runs ahead. It never goes back, whoever read the offset first.
func (c *core) moveTo(offset time.Duration) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if offset > c.clock.Offset() {
		c.clock.SetOffset(offset)
	}
}

// addMail lets operations tell people by mail, in links to authURL. The outbox needs a queue before the first of them.
func (c *core) addMail(authURL string) {
	c.outbox = mail.NewOutbox(c.sealer)
	c.letters = account.NewLetters(account.LettersOptions{Store: c.store, Outbox: c.outbox, Sealer: c.sealer, AuthURL: func() string { return authURL }})
	c.engine.Mailer = c.letters
}

// tokens returns the issuer of access tokens, under the addresses that the server answers at.
func (c *core) tokens(baseURL, authURL string) *identity.Tokens {
	return identity.NewTokens(c.keys, authURL, baseURL, c.clock.Now)
}
