package backup_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/backup"
	"atrium/internal/platform/files"
	"atrium/internal/platform/store"
)

// A backup has the stored files that live rows of any table name, each once. One that is missing fails it by name; a restore that is cut
// off leaves nothing behind, and one into a folder that has the files leaves these alone.
func TestBackupOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, keys := files.NewFolder(filepath.Join(dir, "files")), map[string]string{}
	for _, name := range []string{"shared", "mail", "deleted"} {
		spooled, err := files.SpoolSealed(dir, strings.NewReader(name), int64(len(name)))
		require.NoError(t, err)
		keys[name] = files.NewKey("co_1")
		require.NoError(t, kept.Put(t.Context(), keys[name], spooled))
	}
	database := databaseWith(t, dir,
		"CREATE TABLE attachments (stored_as text, deleted_at datetime)", "CREATE TABLE mails (stored_as text)",
		"INSERT INTO attachments VALUES ('"+keys["shared"]+"', NULL), ('"+keys["shared"]+"', NULL), ('', NULL), (NULL, NULL), ('"+keys["deleted"]+"', '2026-01-01')",
		"INSERT INTO mails VALUES ('"+keys["mail"]+"')")
	sound := func(context.Context, string) error { return nil }
	o := backup.Options{Database: database, Files: kept, Now: time.Now(), Check: sound}
	file := filepath.Join(dir, "backup.tar")
	made, err := backup.Write(t.Context(), file, o)
	require.NoError(t, err)
	require.Equal(t, 2, made.Files)
	require.EqualValues(t, len("shared")+len("mail"), made.OfFiles)

	to := filepath.Join(dir, "there")
	restore := backup.RestoreOptions{Dir: to, Files: files.NewFolder(filepath.Join(to, "files")), Spool: filepath.Join(to, "uploads"), Check: sound}
	_, err = backup.Read(t.Context(), file, restore)
	require.NoError(t, err)
	for name, key := range keys {
		f, err := restore.Files.Open(t.Context(), key)
		if name == "deleted" {
			require.ErrorIs(t, err, files.ErrNotFound)
			continue
		}
		require.NoError(t, err)
		content, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		require.NoError(t, err)
		require.Equal(t, name, string(content))
		require.NoError(t, f.Close())
	}

	require.NoError(t, os.Remove(filepath.Join(to, "atrium.db")))
	restore.Check = func(context.Context, string) error { return io.ErrUnexpectedEOF }
	_, err = backup.Read(t.Context(), file, restore)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.FileExists(t, filepath.Join(to, "files", keys["mail"]), "what was there before stays")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	cut := filepath.Join(dir, "cut.tar")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)-1024-512-300], 0o600)) // within the header of the last file
	restore.Dir, restore.Check = filepath.Join(dir, "nowhere"), sound
	restore.Files, restore.Spool = files.NewFolder(filepath.Join(restore.Dir, "files")), filepath.Join(restore.Dir, "uploads")
	_, err = backup.Read(t.Context(), cut, restore)
	require.ErrorContains(t, err, "not all of a backup")
	require.NoDirExists(t, restore.Dir)

	require.NoError(t, kept.Delete(t.Context(), keys["mail"]))
	_, err = backup.Write(t.Context(), filepath.Join(dir, "again.tar"), o)
	require.EqualError(t, err, "the attached file "+keys["mail"]+", which the database names, is missing")
	require.NoFileExists(t, filepath.Join(dir, "again.tar"))
}

// databaseWith makes a database by statements.
func databaseWith(t *testing.T, dir string, statements ...string) string {
	t.Helper()
	path := filepath.Join(dir, "atrium.db")
	db, err := store.OpenSQLiteFile(path)
	require.NoError(t, err)
	for _, statement := range statements {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	return path
}
