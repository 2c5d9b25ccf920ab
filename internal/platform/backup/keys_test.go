package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/backup"
)

// A backup says that it has keys only if the master key is among them. One whose master key is in a KMS still restores the local CA.
func TestBackupWithoutTheMasterKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound := func(context.Context, string) error { return nil }
	database := databaseWith(t, dir, "CREATE TABLE t (id INTEGER)")
	for name, want := range map[string]bool{"ca.pem": false, backup.MasterKey: true} {
		file, to := filepath.Join(dir, name+".tar"), filepath.Join(dir, name)
		made, err := backup.Write(t.Context(), file, backup.Options{
			Database: database, Keys: []backup.KeyFile{{Name: name, Content: []byte("key")}}, Passphrase: "correct horse", Now: time.Now(), Check: sound,
		})
		require.NoError(t, err)
		require.Equal(t, want, made.Keys)
		_, err = backup.Read(t.Context(), file, backup.RestoreOptions{Dir: to, Passphrase: "correct horse", Check: sound})
		require.NoError(t, err)
		content, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, "key", string(content))
	}
}
