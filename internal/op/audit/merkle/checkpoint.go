package merkle

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/setting"
	"atrium/internal/platform/store"
)

const (
	settingKey   = "audit_key" // the public key, a space, and the encrypted private key in base64
	keyName      = "atrium-audit"
	originPrefix = "atrium/audit/" // the company's id follows
)

// Sealing encrypts the private key. *seal.Sealer implements it.
type Sealing interface {
	Seal(plain, associated []byte) ([]byte, error)
	Unseal(sealed, associated []byte) ([]byte, error)
}

// Key signs checkpoints. An installation has one.
type Key struct {
	Public string // name+hash+key, in the format of sumdb/note
	signer note.Signer
}

// MakeKey creates the installation's key unless it exists.
func MakeKey(ctx context.Context, s *store.Store, sealing Sealing) error {
	err := s.WriteOrRetry(system(ctx), func(ctx context.Context, tx *store.Tx) error {
		if there, err := tx.Setting.Query().Where(setting.ID(settingKey)).Exist(ctx); there || err != nil {
			return err
		}
		private, public, err := note.GenerateKey(rand.Reader, keyName)
		if err != nil {
			return err
		}
		sealed, err := sealing.Seal([]byte(private), []byte(settingKey))
		if err != nil {
			return err
		}
		return tx.Setting.Create().SetID(settingKey).SetValue(public + " " + base64.StdEncoding.EncodeToString(sealed)).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("make the audit log's key: %w", err)
	}
	return nil
}

// HasKey reports whether MakeKey has created the installation's key.
func HasKey(ctx context.Context, db *ent.Client) (bool, error) {
	return db.Setting.Query().Where(setting.ID(settingKey)).Exist(system(ctx))
}

// OpenKey returns the installation's key, which MakeKey has created.
func OpenKey(ctx context.Context, db *ent.Client, sealing Sealing) (*Key, error) {
	row, err := db.Setting.Get(system(ctx), settingKey)
	if err != nil {
		return nil, fmt.Errorf("read the audit log's key: %w", err)
	}
	public, rest, _ := strings.Cut(row.Value, " ")
	sealed, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return nil, fmt.Errorf("read the audit log's key: %w", err)
	}
	private, err := sealing.Unseal(sealed, []byte(settingKey))
	if err != nil {
		return nil, fmt.Errorf("open the audit log's key: %w", err)
	}
	signer, err := note.NewSigner(string(private))
	if err != nil {
		return nil, fmt.Errorf("read the audit log's key: %w", err)
	}
	return &Key{Public: public, signer: signer}, nil
}

// formerKey is the prefix of the settings that hold the keys of a company's former installations.
const formerKey = settingKey + "_of/"

// KeepFormerKeys stores the public keys that signed a company's checkpoints in its former installations, oldest first.
func KeepFormerKeys(ctx context.Context, db *ent.Client, companyID string, public []string) error {
	err := db.Setting.Create().SetID(formerKey + companyID).SetValue(strings.Join(public, "\n")).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep the former keys: %w", err)
	}
	return nil
}

// FormerKeys returns the stored former keys by company id; a sandbox has those of its live company.
func FormerKeys(ctx context.Context, db *ent.Client) (map[string][]string, error) {
	rows, err := db.Setting.Query().Where(setting.IDGT(formerKey), setting.IDLT(formerKey+"~")).All(system(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the former keys: %w", err)
	}
	out := make(map[string][]string, len(rows))
	for _, r := range rows {
		out[strings.TrimPrefix(r.ID, formerKey)] = strings.Split(r.Value, "\n")
	}
	sandboxes, err := db.Company.Query().Where(company.SandboxOfIn(slices.Collect(maps.Keys(out))...)).All(system(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the sandboxes: %w", err)
	}
	for _, s := range sandboxes {
		out[s.ID] = out[*s.SandboxOf]
	}
	return out, nil
}

// Checkpoint is the size and the root hash of a company's log at some time.
type Checkpoint struct {
	Company string
	Size    int64
	Root    tlog.Hash
}

// Sign returns a checkpoint as a signed note.
func (k *Key) Sign(c Checkpoint) (string, error) {
	text := originPrefix + c.Company + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + c.Root.String() + "\n"
	b, err := note.Sign(&note.Note{Text: text}, k.signer)
	if err != nil {
		return "", fmt.Errorf("sign a checkpoint: %w", err)
	}
	return string(b), nil
}

// OpenCheckpoint verifies a signed note with public keys, of which one must have signed it, and returns its checkpoint.
func OpenCheckpoint(signed string, public ...string) (c Checkpoint, err error) {
	var known []note.Verifier
	for _, key := range public {
		v, err := note.NewVerifier(key)
		if err != nil {
			return c, fmt.Errorf("read the key: %w", err)
		}
		known = append(known, v)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(known...))
	if err != nil {
		return c, fmt.Errorf("open the checkpoint: %w", err)
	}
	lines := strings.Split(n.Text, "\n")
	malformed := errors.New("the checkpoint is no origin, size and root")
	if len(lines) != 4 || lines[3] != "" || !strings.HasPrefix(lines[0], originPrefix) {
		return c, malformed
	}
	c.Company = strings.TrimPrefix(lines[0], originPrefix)
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 {
		return c, malformed
	}
	if c.Root, err = tlog.ParseHash(lines[2]); err != nil {
		return c, malformed
	}
	return c, nil
}

// Head returns the current checkpoint of a company's log.
func Head(ctx context.Context, db *ent.Client, company string) (Checkpoint, error) {
	e, err := edgeOf(ctx, db, company)
	if err != nil {
		return Checkpoint{}, err
	}
	return Checkpoint{Company: company, Size: e.size, Root: e.root()}, nil
}
