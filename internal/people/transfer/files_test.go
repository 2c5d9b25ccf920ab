package transfer_test

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/attachment"
	"atrium/internal/op"
	"atrium/internal/people/transfer"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// depot returns what keeps a world's files, in a folder of its own.
func depot(t *testing.T, w *testkit.World) (d *attachment.Depot, dir string) {
	t.Helper()
	dir = t.TempDir()
	return attachment.NewDepot(attachment.Depot{Engine: w.Engine, Files: files.NewFolder(filepath.Join(dir, "files")), Spool: filepath.Join(dir, "uploads"), Log: w.Engine.Log}), dir
}

// attach adds a draft of the company's owner.
func attach(t *testing.T, w *testkit.World, d *attachment.Depot, name string, content []byte) string {
	t.Helper()
	draft, as := true, w.As(w.A, principal.Owner)
	a := testkit.Run(t, w, as, attachment.Create, attachment.CreateInput{Draft: &draft, Name: name, Size: int64(len(content))})
	_, err := d.Receive(as, a.ID, bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return a.ID
}

// left returns how many files a folder holds, at any depth.
func left(t *testing.T, dir string) (n int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// A company's files move with it, in both directions between the databases: whatever their size, the same bytes once, deleted ones not at all.
func TestFilesMove(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, one *testkit.World) {
		for _, way := range [][2]*testkit.World{{testkit.SQLiteWorld(t), one}, {one, testkit.SQLiteWorld(t)}} {
			from, to := way[0], way[1]
			source, _ := depot(t, from)
			target, dir := depot(t, to)
			large := bytes.Repeat([]byte("0123456789abcdef"), 70_000) // more than one piece
			want := map[string][]byte{attach(t, from, source, "large.txt", large): large, attach(t, from, source, "again.txt", large): large, attach(t, from, source, "small.txt", []byte("x")): []byte("x")}
			gone := attach(t, from, source, "gone.txt", []byte("gone"))
			testkit.Run(t, from, from.As(from.A, principal.Owner), attachment.Delete, op.ByID{ID: gone})

			im := importer(to)
			im.Files, im.Spool = target.Files, target.Spool
			out, err := im.Import(system(t), exportWith(t, from, source.Files), passphrase)
			require.NoError(t, err)
			require.Equal(t, 2, out.Files)
			require.Equal(t, 2, left(t, dir), "the same bytes once, and nothing that was deleted")
			owner := to.Store.Reader().User.GetX(system(t), from.A.Owner.ID)
			for id, content := range want {
				_, f, err := target.Content(to.AsUser(owner), id)
				require.NoError(t, err)
				got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
				require.NoError(t, err)
				require.Equal(t, content, got)
				require.NoError(t, f.Close())
			}
		}
	})
}

// Files that a company's own rows do not name, that are another company's, or that are not what their rows say are refused, and nothing
// of them stays.
func TestForgedFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, to *testkit.World) {
		from := testkit.SQLiteWorld(t)
		source, _ := depot(t, from)
		target, dir := depot(t, to)
		id := attach(t, from, source, "plan.txt", []byte("the plan"))
		key := from.Store.Reader().Attachment.GetX(system(t), id).StoredAs
		f := file{t: t, lines: strings.SplitAfter(opened(t, exportWith(t, from, source.Files)), "\n")}
		f.columns = columnsOf(t, f.lines[0])
		whole := strings.Join(f.lines, "")
		at := 0
		for n, line := range f.lines {
			if strings.HasPrefix(line, `["(file)"`) {
				at = n
			}
		}
		require.Positive(t, at)
		without := strings.Join(append(append([]string{}, f.lines[:at]...), strings.Replace(f.lines[at+2], `"files":1`, `"files":0`, 1)), "")
		_, foreign, err := files.MakeKey()
		require.NoError(t, err)
		for name, c := range map[string]struct {
			file, says string
			is         error
		}{
			"a file of another company":     {f.with("attachments", id, "stored_as", files.NewKey(to.B.Company.ID)), "stored_as of attachments must be of the company's own files", transfer.ErrForeign},
			"a path":                        {f.with("attachments", id, "stored_as", from.A.Company.ID+"/file_/../../x"), "must be of the company's own files", transfer.ErrForeign},
			"a preview":                     {f.with("attachments", id, "stored_as", key+".320"), "must be of the company's own files", transfer.ErrForeign},
			"a file that no row names":      {f.with("attachments", id, "stored_as", files.NewKey(from.A.Company.ID)), "a file that no row names", transfer.ErrForeign},
			"a row whose file has not come": {without, "that a row names", transfer.ErrRow},
			"another size than the row":     {f.with("attachments", id, "size", 7), "has 8 bytes, and a row that names it says 7", transfer.ErrRow},
			"another size than announced":   {strings.Replace(whole, f.lines[at], strings.Replace(f.lines[at], `"size":`, `"size":1`, 1), 1), "", transfer.ErrCutOff},
			"fewer bytes than sent":         {strings.Replace(whole, f.lines[at], strings.Split(f.lines[at], `"size":`)[0]+`"size":5}]`+"\n", 1), "another size", transfer.ErrRow},
			"another key":                   {f.with("companies", from.A.Company.ID, "files_key_sealed", []byte(foreign)), "that a row names", transfer.ErrRow},
			"no key":                        {f.with("companies", from.A.Company.ID, "files_key_sealed", nil), "no key of files", transfer.ErrRow},
			"rows after files":              {strings.Replace(whole, f.lines[at+2], f.lines[1]+f.lines[at+2], 1), "", transfer.ErrCutOff},
		} {
			im := importer(to)
			im.Files, im.Spool = target.Files, target.Spool
			_, err := im.Import(system(t), sealed(t, c.file), passphrase)
			require.ErrorIs(t, err, c.is, name)
			require.Contains(t, err.Error(), c.says, name)
			require.Zero(t, left(t, dir), name)
		}
		im := importer(to)
		im.Files, im.Spool = target.Files, target.Spool
		_, err = im.Import(system(t), sealed(t, whole), passphrase)
		require.NoError(t, err, "the file as it was is taken")
	})
}
