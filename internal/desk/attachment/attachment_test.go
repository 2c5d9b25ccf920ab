package attachment_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entity "atrium/ent/attachment"
	"atrium/ent/auditentry"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/files"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// desk is a depot with a request to which files are added.
type desk struct {
	*testkit.World
	*attachment.Depot
	request string
}

func newDesk(t *testing.T, w *testkit.World, scan *attachment.Scanner) *desk {
	t.Helper()
	dir, owner := t.TempDir(), w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	r := testkit.Run(t, w, w.As(w.A, principal.Member), request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"})
	d := attachment.NewDepot(attachment.Depot{Engine: w.Engine, Files: files.NewFolder(filepath.Join(dir, "files")), Spool: filepath.Join(dir, "uploads"), Scan: scan, Log: w.Engine.Log})
	return &desk{w, d, r.ID}
}

func (d *desk) as(role principal.Role) context.Context { return d.As(d.A, role) }

func (d *desk) announce(t *testing.T, as context.Context, size int) string {
	t.Helper()
	return testkit.Run(t, d.World, as, attachment.Create, attachment.CreateInput{RequestID: &d.request, Name: "a.txt", Size: int64(size)}).ID
}

func (d *desk) add(t *testing.T, as context.Context, content string) *ent.Attachment {
	t.Helper()
	a, err := d.Receive(as, d.announce(t, as, len(content)), strings.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return a
}

// bytesOf returns the bytes of a file as somebody gets them.
func (d *desk) bytesOf(as context.Context, id string) (string, error) {
	_, f, err := d.Content(as, id)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	out, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	return string(out), err
}

func (d *desk) stored(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, d.Files.List(t.Context(), func(string, time.Time) error { n++; return nil }))
	return n
}

func refused(t *testing.T, err error, code apperr.Code, says string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, apperr.From(err).Code)
	require.Contains(t, apperr.From(err).Message, says)
}

// A caller sends four files at once; a fifth waits for one of them to end. A colleague does not wait for it.
func TestFourUploadsOfACallerAtOnce(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	owner := d.as(principal.Owner)
	var held []*io.PipeWriter
	var sending sync.WaitGroup
	for range 4 {
		r, to := io.Pipe()
		id := d.announce(t, owner, 2)
		sending.Go(func() { _, _ = d.Receive(owner, id, r, 2) })
		_, err := to.Write([]byte("a")) // its place is taken once its first byte is read
		require.NoError(t, err)
		held = append(held, to)
	}
	fifth := d.announce(t, owner, 1)
	impatient, stop := context.WithTimeout(owner, 100*time.Millisecond)
	defer stop()
	_, err := d.Receive(impatient, fifth, strings.NewReader("b"), 1)
	refused(t, err, apperr.Unavailable, "")
	d.add(t, d.as(principal.Member), "mine")
	require.NoError(t, held[0].Close())
	_, err = d.Receive(owner, fifth, strings.NewReader("b"), 1)
	require.NoError(t, err)
	for _, to := range held {
		require.NoError(t, to.Close())
	}
	sending.Wait()
}

// The same bytes that several people send at once are stored once, and read by all; when the last row is gone, they are.
func TestSameBytesAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, nil)
		content := strings.Repeat("The same. ", 10_000)
		senders := []principal.Role{principal.Owner, principal.Member, principal.Agent, principal.Admin, principal.Owner, principal.Member}
		var ids []string
		for _, role := range senders {
			ids = append(ids, d.announce(t, d.as(role), len(content)))
		}
		var all sync.WaitGroup
		for n, id := range ids {
			all.Go(func() {
				_, err := d.Receive(d.as(senders[n]), id, strings.NewReader(content), int64(len(content)))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Equal(t, 1, d.stored(t))
		for _, id := range ids {
			got, err := d.bytesOf(d.as(principal.Agent), id)
			require.NoError(t, err)
			require.Equal(t, content, got)
		}
		for n, id := range ids {
			require.Equal(t, 1, d.stored(t), "before the %dth was removed", n)
			testkit.Run(t, w, d.as(principal.Agent), attachment.Delete, op.ByID{ID: id})
			w.Clock.SetOffset(time.Duration(n+1) * 25 * time.Hour)
			require.NoError(t, d.Sweep(t.Context()))
		}
		require.Zero(t, d.stored(t))
	})
}

// A stream that breaks leaves nothing, and is sent again.
func TestABrokenUploadIsRepeated(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, nil)
		as, content := d.as(principal.Member), []byte("0123456789")
		id := d.announce(t, as, len(content))
		_, err := d.Receive(as, id, io.MultiReader(bytes.NewReader(content[:5]), iotestError{}), int64(len(content)))
		refused(t, err, apperr.Unavailable, "Send it again")
		_, err = d.Receive(as, id, bytes.NewReader(content[:5]), -1)
		refused(t, err, apperr.Validation, "announced with 10 bytes")
		require.Zero(t, d.stored(t))
		_, err = d.Receive(as, id, bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		_, err = d.Receive(as, id, bytes.NewReader(content), int64(len(content)))
		refused(t, err, apperr.Conflict, "have come already")
		require.Equal(t, 1, d.stored(t))
	})
}

// Of a full disk the sender is told, and the operator by the log. Nothing is left, and the same call succeeds when there is room.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	var log bytes.Buffer
	d.Log = slog.New(slog.NewTextHandler(&log, nil))
	as, room := d.as(principal.Member), d.Files
	id := d.announce(t, as, 1)
	d.Files = full{room}
	_, err := d.Receive(as, id, strings.NewReader("a"), 1)
	refused(t, err, apperr.Unavailable, "no room for the file")
	require.Contains(t, log.String(), "no space left on device")
	require.Zero(t, d.stored(t))
	left, err := os.ReadDir(d.Spool)
	require.NoError(t, err)
	require.Empty(t, left)
	log.Reset()
	_, err = d.Receive(as, id, iotestError{}, 1)
	refused(t, err, apperr.Unavailable, "Send it again.")
	require.Empty(t, log.String(), "who breaks off is nothing to the operator")
	d.Files = room
	_, err = d.Receive(as, id, strings.NewReader("a"), 1)
	require.NoError(t, err)
}

// full is a store on a full disk.
type full struct{ files.Store }

func (full) Put(context.Context, string, *files.Spooled) error {
	return fmt.Errorf("store the file: %w", &fs.PathError{Op: "write", Path: "file", Err: syscall.ENOSPC})
}

type iotestError struct{}

func (iotestError) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// What no row names is removed a day after that was seen, and not in its first two days.
func TestFilesWithoutARow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, nil)
		d.add(t, d.as(principal.Member), "named")
		spooled, err := files.SpoolSealed(d.Spool, strings.NewReader("left by a crash"), 15)
		require.NoError(t, err)
		require.NoError(t, d.Files.Put(t.Context(), files.NewKey(d.A.Company.ID), spooled))
		w.Clock.SetOffset(47 * time.Hour)
		require.NoError(t, d.RemoveUnnamed(t.Context()))
		require.Equal(t, 2, d.stored(t))
		w.Clock.SetOffset(49 * time.Hour)
		require.NoError(t, d.RemoveUnnamed(t.Context()))
		require.NoError(t, d.Sweep(t.Context()))
		require.Equal(t, 2, d.stored(t), "its row may have gone just now, and a backup that is being made has it")
		w.Clock.SetOffset(74 * time.Hour)
		require.NoError(t, d.RemoveUnnamed(t.Context()))
		require.NoError(t, d.Sweep(t.Context()))
		require.Equal(t, 1, d.stored(t))
	})
}

// The sweep removes what is its own and no more: an operator may keep other things in the folder or in the bucket, or files of another
// installation. What broken uploads have left goes after two days, and never stops it.
func TestWhatIsNotOursStays(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, nil)
	root := filepath.Join(filepath.Dir(d.Spool), "files")
	stray, other := files.NewKey(d.A.Company.ID), files.NewKey(id.New("co"))
	stays := []string{
		"readme.txt", "photos/summer.jpg", "a/b/c/file.bin", d.A.Company.ID + "/notes.txt", d.A.Company.ID + "/deep/er/notes.txt", stray + ".bak", other, other + ".320",
	}
	goes := []string{d.A.Company.ID + "/.put-123", "../uploads/.upload-123", stray, stray + ".320", files.NewKey(d.A.Company.ID) + ".1024"}
	for _, name := range append(stays, goes...) {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, nil, 0o600))
	}
	work := func() {
		require.NoError(t, d.SweepNow(t.Context(), attachment.SweepArgs{Unnamed: true}))
		require.NoError(t, d.SweepNow(t.Context(), attachment.SweepArgs{}))
	}
	w.Clock.SetOffset(47 * time.Hour)
	work()
	for _, name := range append(stays, goes...) {
		require.FileExists(t, filepath.Join(root, name))
	}
	for _, at := range []time.Duration{49 * time.Hour, 74 * time.Hour} {
		w.Clock.SetOffset(at)
		work()
	}
	for _, name := range stays {
		require.FileExists(t, filepath.Join(root, name))
	}
	for _, name := range goes {
		require.NoFileExists(t, filepath.Join(root, name))
	}
}

// clamd answers INSTREAM as clamd does: it finds what contains EICAR.
func clamd(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // a test's
				content, err := instream(conn)
				answer := "stream: OK\x00"
				if bytes.Contains(content, []byte("EICAR")) {
					answer = "stream: Eicar-Test-Signature FOUND\x00"
				}
				if err == nil {
					_, _ = io.WriteString(conn, answer)
				}
			}()
		}
	}()
	return ln.Addr().String()
}

// instream reads the command and its pieces.
func instream(conn io.Reader) (out []byte, err error) {
	command := make([]byte, len("zINSTREAM\x00"))
	if _, err := io.ReadFull(conn, command); err != nil || string(command) != "zINSTREAM\x00" {
		return nil, io.ErrUnexpectedEOF
	}
	for {
		var size uint32
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil || size == 0 {
			return out, err
		}
		piece := make([]byte, size)
		if _, err := io.ReadFull(conn, piece); err != nil {
			return nil, err
		}
		out = append(out, piece...)
	}
}

// Others get a file once the scanner has found nothing in it. While the scanner is away, it waits.
func TestScan(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		scan := &attachment.Scanner{Address: "127.0.0.1:1"} // nobody is there
		d := newDesk(t, w, scan)
		author, staff := d.as(principal.Member), d.as(principal.Agent)
		content := strings.Repeat("harmless ", 20_000)
		a := d.add(t, author, content)
		require.Equal(t, entity.ScanPENDING, a.Scan)
		require.Len(t, w.Unfinished(t, d.A.Company.ID, d.A.Company.ID), 1, "the job that has it scanned")
		require.ErrorContains(t, d.ScanNow(t.Context(), a.CompanyID, a.StoredAs), "nooze")
		got, err := d.bytesOf(author, a.ID)
		require.NoError(t, err)
		require.Equal(t, content, got, "its author has it anyway")
		_, err = d.bytesOf(staff, a.ID)
		refused(t, err, apperr.Conflict, "has not been scanned")

		scan.Address = clamd(t)
		held := d.HoldScans(a.CompanyID, 5)
		require.Len(t, held, 2, "of the places for scans, some are left to other companies")
		require.ErrorContains(t, d.ScanNow(t.Context(), a.CompanyID, a.StoredAs), "nooze")
		for _, leave := range held {
			leave()
		}
		require.NoError(t, d.ScanNow(t.Context(), a.CompanyID, a.StoredAs))
		got, err = d.bytesOf(staff, a.ID)
		require.NoError(t, err)
		require.Equal(t, content, got)
		require.Equal(t, entity.ScanCLEAN, d.add(t, staff, content).Scan, "the same bytes are not scanned again")
		require.ErrorContains(t, d.ScanNow(t.Context(), d.B.Company.ID, a.StoredAs), "not the company's", "a job that somebody has written into an import")
	})
}

// Something that the scanner finds is quarantined at everybody who has sent it: nobody gets it, its bytes are removed, and the audit log
// says so.
func TestInfectedFilesAreQuarantined(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, &attachment.Scanner{Address: clamd(t)})
		author, staff := d.as(principal.Member), d.as(principal.Agent)
		one, other, clean := d.add(t, author, "EICAR"), d.add(t, staff, "EICAR"), d.add(t, author, "clean")
		require.Equal(t, one.StoredAs, other.StoredAs)
		require.NoError(t, d.ScanNow(t.Context(), one.CompanyID, one.StoredAs))
		require.NoError(t, d.ScanNow(t.Context(), one.CompanyID, one.StoredAs), "the other's job finds nothing to do")
		require.NoError(t, d.ScanNow(t.Context(), clean.CompanyID, clean.StoredAs))
		for _, id := range []string{one.ID, other.ID} {
			for _, as := range []context.Context{author, staff} {
				_, err := d.bytesOf(as, id)
				refused(t, err, apperr.Conflict, "quarantined")
			}
			row := testkit.Run(t, w, staff, attachment.Get, op.ByID{ID: id})
			require.Equal(t, entity.ScanINFECTED, row.Scan)
			require.Empty(t, row.StoredAs, "no backup looks for its bytes")
		}
		require.Equal(t, 2, d.stored(t), "a backup that is being made may name it")
		tells := 0
		for _, j := range w.Unfinished(t, d.A.Company.ID) {
			if j.Kind == (attachment.QuarantinedArgs{}).Kind() {
				tells++
			}
		}
		require.Equal(t, 2, tells, "once for each file")
		w.Clock.SetOffset(25 * time.Hour)
		require.NoError(t, d.Sweep(t.Context()))
		require.Equal(t, 1, d.stored(t), "the clean one")
		w.Clock.SetOffset(0)
		told, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("attachment.quarantined")).Count(principal.System(t.Context(), "test"))
		require.NoError(t, err)
		require.Equal(t, 2, told)
	})
}

// A server that lost its scanner lets wait what waits no longer.
func TestWithoutAScanner(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, &attachment.Scanner{Address: "127.0.0.1:1"})
		a := d.add(t, d.as(principal.Member), "x")
		d.Scan = nil
		require.NoError(t, d.ScanNow(t.Context(), a.CompanyID, a.StoredAs))
		require.Equal(t, entity.ScanSKIPPED, testkit.Run(t, w, d.as(principal.Agent), attachment.Get, op.ByID{ID: a.ID}).Scan)
	})
}

// Files are as large as the plan allows, and together; a removed one makes room.
func TestRoom(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, nil)
		as := d.as(principal.Member)
		plan := w.Store.Reader().Company.GetX(principal.System(t.Context(), "test"), d.A.Company.ID)
		room := attachment.RoomOf(plan)
		_, _, err := op.Run(as, w.Engine, attachment.Create, attachment.CreateInput{RequestID: &d.request, Name: "a", Size: room.File + 1}, nil)
		refused(t, err, apperr.Validation, "")
		require.Equal(t, "size", apperr.From(err).Details[0].Field)
		a := d.add(t, as, "x")
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return tx.ExecRaw(ctx, "UPDATE attachments SET size = ? WHERE id = ?", room.Company, a.ID)
		}))
		_, _, err = op.Run(as, w.Engine, attachment.Create, attachment.CreateInput{RequestID: &d.request, Name: "a", Size: 1}, nil)
		refused(t, err, apperr.Conflict, "this one does not fit")
		testkit.Run(t, w, as, attachment.Delete, op.ByID{ID: a.ID})
		d.announce(t, as, 1)
	})
}
