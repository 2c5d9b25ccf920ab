package attachment

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/internal/op"
	"atrium/internal/platform/files"
	"atrium/internal/platform/jobs"
)

// Scanner asks clamd what it thinks of files (its command INSTREAM).
type Scanner struct {
	Address string // host:port, or the path of a Unix socket
}

const (
	scannerName = "virus scanner" // as the audit log names it

	scanTime  = 5 * time.Minute // for one file
	scanAgain = time.Minute     // after the scanner was away
	scanPiece = 64 << 10
)

// Infected reports whether clamd finds something in a stream. An error means that it is away or could not say.
func (s *Scanner) Infected(ctx context.Context, from io.Reader) (_ bool, err error) {
	network := "tcp"
	if strings.HasPrefix(s.Address, "/") {
		network = "unix"
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, s.Address)
	if err != nil {
		return false, fmt.Errorf("call the virus scanner: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(scanTime)); err != nil {
		return false, err
	}
	_, werr := io.WriteString(conn, "zINSTREAM\x00")
	piece := make([]byte, 4+scanPiece)
	for werr == nil {
		n, rerr := io.ReadFull(from, piece[4:])
		if n > 0 {
			binary.BigEndian.PutUint32(piece, uint32(n)) // at most scanPiece
			_, werr = conn.Write(piece[:4+n])
		}
		if errors.Is(rerr, io.EOF) || errors.Is(rerr, io.ErrUnexpectedEOF) {
			break
		}
		if rerr != nil {
			return false, fmt.Errorf("read the file: %w", rerr)
		}
	}
	if werr == nil {
		_, werr = conn.Write([]byte{0, 0, 0, 0})
	}
	answer, rerr := bufio.NewReader(io.LimitReader(conn, 4096)).ReadString(0) // it answers a file that is too large before its end
	answer = strings.TrimSpace(strings.TrimRight(answer, "\x00"))
	switch {
	case strings.HasSuffix(answer, " FOUND"):
		return true, nil
	case strings.HasSuffix(answer, ": OK"):
		return false, nil
	}
	return false, errors.Join(fmt.Errorf("the virus scanner says %q", answer), werr, rerr)
}

// ScanArgs is the job that has a stored file scanned.
type ScanArgs struct {
	Company  string `json:"company"`
	StoredAs string `json:"storedAs"`
}

// Kind names the job.
func (ScanArgs) Kind() string { return "attachment_scan" }

// QuarantinedArgs is the job that tells of a file in which the scanner has found something. Package notice works it.
type QuarantinedArgs struct {
	Company string `json:"company"`
	ID      string `json:"id"`
}

// Kind names the job.
func (QuarantinedArgs) Kind() string { return "notice_quarantined" }

// InsertOpts puts the job into the queue of notices.
func (QuarantinedArgs) InsertOpts() river.InsertOpts { return jobs.ToTell(false) }

type scanner struct {
	river.WorkerDefaults[ScanArgs]
	depot *Depot
}

// Timeout of one scan.
func (*scanner) Timeout(*river.Job[ScanArgs]) time.Duration { return scanTime }

// Work has the file scanned, and keeps what came out at all rows that name it. While the scanner is away, it waits.
func (s *scanner) Work(ctx context.Context, job *river.Job[ScanArgs]) error {
	d := s.depot
	if !files.OfCompany(job.Args.StoredAs, job.Args.Company) {
		return river.JobCancel(errors.New("the file is not the company's")) // a job that was imported
	}
	result := attachment.ScanSKIPPED
	if d.Scan != nil {
		leave, err := d.scans.TakeOrSnooze(job.Args.Company)
		if err != nil {
			return err
		}
		defer leave()
		infected, err := d.infected(ctx, job.Args)
		if errors.Is(err, files.ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			d.Log.WarnContext(ctx, "a file waits for the virus scanner", "error", err)
			return river.JobSnooze(scanAgain)
		}
		result = attachment.ScanCLEAN
		if infected {
			result = attachment.ScanINFECTED
		}
	}
	return d.Engine.Work(ctx, job.Args.Company, scannerName, func(ctx context.Context, tx *op.Tx) error {
		return scanned(ctx, tx, job.Args.StoredAs, result)
	})
}

// scanned keeps what the scanner says at all rows that name a stored file. Those of an infected one name it no more, and its bytes go a day
// later.
func scanned(ctx context.Context, tx *op.Tx, key string, result attachment.Scan) error {
	q := tx.Attachment.Query().Where(attachment.StoredAs(key), live()).Order(attachment.ByID())
	one, err := q.Clone().First(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	if err := tx.LockName(ctx, nameOf(one.CompanyID, one.Sha256)); err != nil { // nobody shares the bytes meanwhile
		return err
	}
	rows, err := op.Lock(tx, q).All(ctx)
	if err != nil {
		return fmt.Errorf("read the files: %w", err)
	}
	for _, a := range rows {
		u := a.Update().SetScan(result)
		if result == attachment.ScanINFECTED {
			u.ClearStoredAs()
			told := tx.Insert(ctx, QuarantinedArgs{Company: a.CompanyID, ID: a.ID}, time.Time{})
			if err := errors.Join(tx.Note(ctx, "attachment.quarantined", "Attachment", a.ID, nil), told); err != nil {
				return err
			}
		}
		if err := u.Exec(ctx); err != nil {
			return fmt.Errorf("keep what the scanner says: %w", err)
		}
	}
	if result != attachment.ScanINFECTED {
		return nil
	}
	return Bury(ctx, tx.Client, tx.Now(ctx), Tombstone{CompanyID: one.CompanyID, StoredAs: key, SHA256: one.Sha256, Size: one.Size})
}

func (d *Depot) infected(ctx context.Context, args ScanArgs) (_ bool, err error) {
	f, err := d.Stored(ctx, args.Company, args.StoredAs)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return d.Scan.Infected(ctx, io.NewSectionReader(f, 0, f.Size))
}
