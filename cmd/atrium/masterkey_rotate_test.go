package main_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	entsecret "atrium/ent/secret"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
)

// A rotation leaves what was sealed before readable, while the server runs and after it. What is sealed after the next start
// needs the new key.
func TestMasterKeyRotate(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		n.call(p.client(), 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"BEFORE","value":"hunter2"}`)
		file := filepath.Join(p.data, "master.key")
		before := filepath.Join(t.TempDir(), "before.key")
		key, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(before, key, 0o600))

		require.Contains(t, p.ok("master-key", "rotate"), "restart the nodes")
		token := p.object("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email)["accessToken"].(string)
		n.call(p.client(), 200, "GET", "/v1/secrets", token, "")
		requireHealthy(t, p)
		require.Zero(t, n.stop(), "%s", n.err)

		n = p.serve()
		n.call(p.client(), 201, "POST", "/v1/secrets", first.LiveKey, `{"allowedHosts":["*"],"name":"AFTER","value":"hunter3"}`)
		require.Zero(t, n.stop(), "%s", n.err)
		for _, with := range []struct {
			key, name, value string
		}{{file, "BEFORE", "hunter2"}, {file, "AFTER", "hunter3"}, {before, "BEFORE", "hunter2"}, {before, "AFTER", ""}} {
			value, err := p.unsealed(with.key, with.name)
			require.Equal(t, with.value, value, "%s with %s", with.name, with.key)
			require.Equal(t, with.value == "", err != nil, "%s with %s: %v", with.name, with.key, err)
		}
	})
}

// unsealed returns the value of the only secret with the name, opened with a key file.
func (p place) unsealed(keyFile, name string) (string, error) {
	p.t.Helper()
	ctx := principal.System(context.Background(), "test")
	s, err := store.Open(ctx, store.Options{DataDir: p.data, DatabaseURL: p.url, MaxConns: 2})
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, s.Close()) }()
	sealer, err := seal.Open(ctx, seal.Source{File: keyFile})
	require.NoError(p.t, err)
	defer sealer.Close()
	row, err := s.Reader().Secret.Query().Where(entsecret.Name(name)).Only(ctx)
	require.NoError(p.t, err)
	value, err := sealer.Unseal(row.Sealed, secret.BoundTo(row.CompanyID, row.ID, row.Version))
	return string(value), err
}

// The command rotates a file. It says what to do where the key is elsewhere, where there is none, and where a rotation was killed.
func TestMasterKeyRotateRefuses(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	rotate := []string{"master-key", "rotate"}
	p.refused([]string{filepath.Join(p.data, "master.key"), "missing", "--master-key-file"}, rotate...)
	require.NoDirExists(t, p.data)

	file := filepath.Join(t.TempDir(), "master.key")
	require.NoError(t, seal.CreateFile(file))
	key, err := os.ReadFile(file)
	require.NoError(t, err)
	value := base64.StdEncoding.EncodeToString(key)
	p.refused([]string{"$ATRIUM_MASTER_KEY", "in front"}, append([]string{"ATRIUM_MASTER_KEY=" + value}, rotate...)...)
	p.refused([]string{"KMS", "itself"}, append(rotate, "--master-key-uri", "hcvault://vault.test/transit/keys/atrium")...)

	with := []string{"master-key", "rotate", "--master-key-file", file}
	require.NoError(t, os.WriteFile(file+".rotating", nil, 0o600))
	p.refused([]string{file + ".rotating", "exists"}, with...)
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, key, now, "a refusal changes nothing")
	require.NoError(t, os.Remove(file+".rotating"))
	require.Equal(t, map[string]any{"masterKey": map[string]any{"file": file}}, p.object(with...))
}
