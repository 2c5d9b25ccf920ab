package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/ent/signingkey"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/seal/kms"
)

// masterKeyVariable may hold the master key itself. It is not a flag, so that the key never appears in a list of processes.
const masterKeyVariable = "ATRIUM_MASTER_KEY"

// masterKey returns the source of the master key: a KMS, the environment, or a file.
func (f dataFlags) masterKey() seal.Source {
	switch value := os.Getenv(masterKeyVariable); {
	case f.MasterKeyURI != "":
		return seal.Source{KMS: f.MasterKeyURI, Connect: kms.Connect}
	case f.MasterKeyFile != "":
		return seal.Source{File: f.MasterKeyFile}
	case value != "":
		return seal.Source{Base64: value}
	}
	return seal.Source{File: filepath.Join(f.Data, "master.key")}
}

// openSealer opens the master key. Only commands that may create an installation create a missing file, and only while nothing
// has been sealed: a new key could not open existing values.
func (c *core) openSealer(ctx context.Context) (*seal.Sealer, error) {
	src := c.flags.masterKey()
	if src.File != "" && !fileExists(src.File) {
		if !c.makes {
			return nil, errNoMasterKey(src.File)
		}
		if err := c.makeMasterKey(ctx, src.File); err != nil {
			return nil, err
		}
	}
	s, err := seal.Open(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("open the master key: %w", err)
	}
	return s, nil
}

func errNoMasterKey(path string) error {
	return fmt.Errorf("the master key %s is missing: check --data and --master-key-file; `atrium serve` makes it at its first start", path)
}

func (c *core) makeMasterKey(ctx context.Context, path string) error {
	sys := principal.System(ctx, "the master key belongs to the installation")
	db := c.store.Reader()
	sealed := false
	for _, exist := range []func(context.Context) (bool, error){
		func(ctx context.Context) (bool, error) { return merkle.HasKey(ctx, db) }, // the first thing that a node seals
		db.SigningKey.Query().Exist, db.Secret.Query().Exist,
	} {
		found, err := exist(sys)
		if err != nil {
			return fmt.Errorf("look for sealed values: %w", err)
		}
		sealed = sealed || found
	}
	if sealed {
		return fmt.Errorf("the master key %s is missing, and the database holds values that were sealed under it: put it there, from a backup or from another node", path)
	}
	if err := seal.CreateFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the master key: %w", err)
	}
	if c.store.Dialect() == dialect.Postgres {
		c.log.WarnContext(ctx, "a master key was made: every node on this database needs this file (--master-key-file), or cannot open what the others seal", "file", path)
	}
	return nil
}

// checkMasterKey returns an error when the master key does not open a sealed value of the installation. A node then does not
// start, rather than fail at the first token.
func (c *core) checkMasterKey(ctx context.Context) error {
	row, err := c.store.Reader().SigningKey.Query().Order(signingkey.ByCreatedAt(), signingkey.ByID()).
		Where(signingkey.RetiredAtIsNil()).First(principal.System(ctx, "the master key belongs to the installation"))
	switch {
	case err == nil:
		_, err = c.sealer.Unseal(row.PrivateSealed, []byte(row.ID))
	case ent.IsNotFound(err):
		if _, err = merkle.OpenKey(ctx, c.store.Reader(), c.sealer); ent.IsNotFound(err) {
			return nil // the first start
		}
	default:
		return fmt.Errorf("look for sealed values: %w", err)
	}
	if err != nil {
		return fmt.Errorf("this master key is not the one that the database's values were sealed under (%s): %w", c.sealer, err)
	}
	return nil
}
