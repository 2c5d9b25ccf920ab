package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"atrium/cmd/atrium/demo"
	entcompany "atrium/ent/company"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// demoRedirect is the redirect URI of a company's first OAuth client: a native application on the same machine.
const demoRedirect = "http://127.0.0.1/callback"

// firstRun holds what people of a new company need to begin. Its secrets are stored nowhere else.
type firstRun struct {
	BaseURL string `json:"baseUrl"`
	AuthURL string `json:"authUrl"`
	CAFile  string `json:"caFile"`
	Company struct {
		ID        string `json:"id"`
		SandboxID string `json:"sandboxId"`
	} `json:"company"`
	Owner struct {
		Email    string `json:"email"`
		Password string `json:"password"`
	} `json:"owner"`
	LiveKey     string `json:"liveKey"`
	TestKey     string `json:"testKey"`
	OAuthClient struct {
		ClientID    string `json:"clientId"`
		RedirectURI string `json:"redirectUri"`
	} `json:"oauthClient"`
	Demo *demo.Made `json:"demo,omitempty"`
}

// firstRun describes a newly created company.
func (c *core) firstRun(ctx context.Context, made *company.Created) (*firstRun, error) {
	out := &firstRun{LiveKey: made.LiveKey, TestKey: made.TestKey}
	var err error
	if out.BaseURL, out.AuthURL, err = c.addresses(ctx); err != nil {
		return nil, err
	}
	if out.CAFile, err = c.setting(ctx, settingCAFile); err != nil {
		return nil, err
	}
	out.Company.ID, out.Company.SandboxID = made.Company.ID, made.Sandbox.ID
	out.Owner.Email, out.Owner.Password = made.Owner.Email, made.Password
	out.OAuthClient.ClientID, out.OAuthClient.RedirectURI = made.Client.ID, demoRedirect
	return out, nil
}

// setUpDemo creates the demo company when the database is empty, and prints a command for a first request.
func (s *server) setUpDemo(ctx context.Context) error {
	path := filepath.Join(s.Data, "first-run.json")
	if !s.NoDemo {
		if err := s.makeDemo(ctx, path); err != nil {
			return err
		}
	}
	first, err := readFirstRun(path)
	if first == nil || err != nil {
		return err
	}
	here, err := s.store.Reader().Company.Query().Where(entcompany.ID(first.Company.ID)).Exist(principal.System(ctx, "the demo company is looked for before anyone acts in it"))
	if err != nil || !here { // the file belongs to another database
		return err
	}
	if err := s.refresh(ctx, path, first); err != nil {
		return err
	}
	fmt.Printf("\nThe demo company's keys and its owner's password are in %s.\nThe API reference is at %s/docs. File a request:\n\n", path, s.BaseURL)
	if first.Demo != nil {
		fmt.Println(pasteable(first, keyFor(os.Stdout, first, path)) + "\n")
	}
	return nil
}

// refresh completes the demo of a start that was killed, and updates the addresses.
func (s *server) refresh(ctx context.Context, path string, first *firstRun) error {
	was := *first
	first.BaseURL, first.AuthURL, first.CAFile = s.BaseURL, s.AuthURL, s.caFile
	if first.Demo == nil {
		made, err := demo.Fill(ctx, s.engine, first.Company.ID)
		if err != nil && apperr.CodeOf(err) != apperr.Conflict { // a conflict means that another start is filling it
			return err
		}
		if made != nil {
			for i := range made.People {
				made.People[i].Password = first.Owner.Password
			}
		}
		first.Demo = made
	}
	if *first == was {
		return nil
	}
	return writeFirstRun(path, first)
}

// keyFor returns the header that holds the key. On a terminal it contains the key. Output that may be stored, by a service
// manager or in a file, gets a command that reads the key from the first-run file, which only its owner can read.
func keyFor(out *os.File, first *firstRun, path string) string {
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return "'x-api-key: " + first.LiveKey + "'"
	}
	return `"x-api-key: $(grep -o 'key_live_[A-Za-z0-9]*' ` + quote(path) + `)"`
}

// pasteable returns a curl command that files a request.
func pasteable(first *firstRun, header string) string {
	ca := ""
	if first.CAFile != "" {
		ca = " --cacert " + quote(first.CAFile)
	}
	return fmt.Sprintf(`curl%s %s/v1/requests -H %s -H 'content-type: application/json' -d '{"serviceId":"%s","offeringId":"%s","title":"My first request","priority":"HIGH","fields":{"model":"14 inch"}}'`,
		ca, quote(first.BaseURL), header, first.Demo.ServiceID, first.Demo.OfferingID)
}

// quote returns s quoted as one word of a shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("/.-_:[]", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// errNotEmpty ends makeDemo when there is a company already.
var errNotEmpty = errors.New("the database is not empty")

// makeDemo creates the demo company in an empty database, exactly once. The setting marks the node that does so, and is committed
// together with the company. The file is written before the commit, since a kill between the two would otherwise lose the only
// copy of the secrets. A file whose company was never committed is overwritten.
func (s *server) makeDemo(ctx context.Context, path string) error {
	sys := principal.System(ctx, "whether any company exists is asked before one does")
	some, err := s.store.Reader().Company.Query().Exist(sys)
	if err != nil || some {
		return err
	}
	made, err := company.Create(ctx, s.store, company.CreateInput{
		Name: "Demo Company", Plan: "growth", OwnerEmail: "owner@demo.example", OwnerName: "Dana Demo", RedirectURI: demoRedirect,
		Within: func(ctx context.Context, tx *store.Tx, made *company.Created) error {
			if err := tx.Setting.Create().SetID(settingDemo).SetValue(made.Company.ID).Exec(ctx); err != nil {
				return fmt.Errorf("claim the demo: %w", err) // a second node waits here, and then fails
			}
			others, err := tx.Company.Query().Where(entcompany.IDNotIn(made.Company.ID, made.Sandbox.ID)).Exist(ctx)
			if err != nil {
				return fmt.Errorf("look for companies: %w", err)
			}
			if others {
				return errNotEmpty
			}
			first, err := s.firstRun(ctx, made)
			if err != nil {
				return err
			}
			return writeFirstRun(path, first)
		},
	})
	defer debug.FreeOSMemory() // argon2id used 64 MiB
	if store.IsUnique(err) || errors.Is(err, errNotEmpty) {
		return nil // another node made it
	}
	if err != nil {
		return fmt.Errorf("make the demo company: %w", err)
	}
	s.log.InfoContext(ctx, "the demo company was made", "company", made.Company.ID)
	return nil
}

// readFirstRun returns the content of an earlier start's file; nil when there is no file.
func readFirstRun(path string) (*firstRun, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no first run here
	}
	if err != nil {
		return nil, fmt.Errorf("read the first run: %w", err)
	}
	var f firstRun
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &f, nil
}

// writeFirstRun writes the file atomically, readable only by its owner.
func writeFirstRun(path string, f *firstRun) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the first run: %w", err)
	}
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the first run: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the first run: %w", err)
	}
	return nil
}
