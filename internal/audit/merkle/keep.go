package merkle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"atrium/internal/store"
)

const (
	keepEvery = time.Hour
	keepLast  = 8 * time.Second // for the last checkpoints, at shutdown
)

// CheckpointWriter stores signed checkpoints of all logs outside the database, hourly and at shutdown.
type CheckpointWriter struct {
	Store  *store.Store
	Key    *Key
	Sealer *Sealer      // seals the last entries before the last checkpoints
	To     string       // a file, which is only appended to, or a URL, which gets one POST per checkpoint
	HTTP   *http.Client // must have a timeout
	Log    *slog.Logger

	last map[string]Checkpoint // by company
}

// signature begins the line with a note's signature.
const signature = "\n\n— "

// whole returns the notes of a file without the part of a last one that a power loss may leave.
func whole(b []byte) []byte {
	end := 0
	for rest := b; ; {
		at := bytes.LastIndex(rest, []byte(signature))
		if at < 0 {
			break
		}
		if n := bytes.IndexByte(b[at+2:], '\n'); n >= 0 {
			end = at + 2 + n + 1
			break
		}
		rest = b[:at]
	}
	torn := strings.Trim(string(b[end:]), "\n\x00")
	if strings.HasPrefix(torn, originPrefix) || strings.HasPrefix(originPrefix, torn) {
		return b[:end]
	}
	return b // this was no note
}

// ReadCheckpoints reads signed notes that are separated by blank lines. Returns an error unless the key has signed all of them. The
// last one may be incomplete, and is left out then.
func ReadCheckpoints(b []byte, public string) (out []Checkpoint, err error) {
	b = whole(b)
	// A note itself contains a blank line before its signatures, so notes are split at a blank line followed by an origin.
	for part := range strings.SplitSeq("\n\n"+string(b), "\n\n"+originPrefix) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		c, err := OpenCheckpoint(strings.TrimRight(originPrefix+part, "\n")+"\n", public)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// isURL reports whether checkpoints are posted to a URL.
func (k *CheckpointWriter) isURL() bool {
	return strings.HasPrefix(k.To, "http://") || strings.HasPrefix(k.To, "https://")
}

// Open reads the checkpoints in the file, if there is one, and removes an incomplete last one. Returns an error when another key has
// signed them.
func (k *CheckpointWriter) Open() error {
	k.last = map[string]Checkpoint{}
	if k.isURL() {
		return nil
	}
	b, err := os.ReadFile(k.To)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the checkpoints: %w", err)
	}
	all, err := ReadCheckpoints(b, k.Key.Public)
	if err != nil {
		return fmt.Errorf("%s: %w", k.To, err)
	}
	if n := len(whole(b)); n < len(b) {
		if err := os.Truncate(k.To, int64(n)); err != nil {
			return fmt.Errorf("remove half a checkpoint: %w", err)
		}
	}
	for _, c := range all {
		if c.Size >= k.last[c.Company].Size {
			k.last[c.Company] = c
		}
	}
	return nil
}

// Run stores checkpoints hourly until the context ends, and then once more.
func (k *CheckpointWriter) Run(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		if err := k.Keep(ctx); err != nil && ctx.Err() == nil {
			k.Log.ErrorContext(ctx, "the audit log's checkpoints were not kept", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return k.atLast(context.WithoutCancel(ctx))
		}
	}
}

// atLast seals the entries of the last minute and stores the checkpoints.
func (k *CheckpointWriter) atLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keepLast)
	defer cancel()
	return errors.Join(k.Sealer.since(ctx, time.Now().Add(-lookDeep)), k.Keep(ctx))
}

// Keep stores a checkpoint of every log that has changed since its last one. For a log that is shorter than its last
// checkpoint, or does not continue it, it stores nothing and returns an error with the company's id; the other logs are stored.
func (k *CheckpointWriter) Keep(ctx context.Context) error {
	companies, err := k.Store.Reader().Company.Query().IDs(system(ctx))
	if err != nil {
		return fmt.Errorf("list the companies: %w", err)
	}
	var errs []error
	for _, company := range companies {
		head, err := Head(ctx, k.Store.Reader(), company)
		if err == nil && head != k.last[company] && head.Size > 0 || err == nil && head.Size < k.last[company].Size {
			err = k.keep(ctx, head)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", company, err))
		}
	}
	return errors.Join(errs...)
}

func (k *CheckpointWriter) keep(ctx context.Context, head Checkpoint) error {
	if err := k.continues(ctx, head); err != nil {
		return err
	}
	signed, err := k.Key.Sign(head)
	if err != nil {
		return err
	}
	if k.isURL() {
		err = k.post(ctx, signed)
	} else {
		err = appendNote(k.To, signed)
	}
	if err == nil {
		k.last[head.Company] = head
	}
	return err
}

// continues returns an error unless the log contains everything that its last checkpoint covers.
func (k *CheckpointWriter) continues(ctx context.Context, head Checkpoint) error {
	last, ok := k.last[head.Company]
	if !ok || last.Size == 0 {
		return nil
	}
	if head.Size < last.Size {
		return fmt.Errorf("the log has %d entries, its last checkpoint %d", head.Size, last.Size)
	}
	proof, err := tlog.ProveTree(head.Size, last.Size, reader(ctx, k.Store.Reader(), head.Company))
	if err == nil {
		err = tlog.CheckTree(proof, head.Size, head.Root, last.Size, last.Root)
	}
	if err != nil {
		return fmt.Errorf("the log does not continue its last checkpoint of %d entries: %w", last.Size, err)
	}
	return nil
}

// appendNote appends a note to the file and syncs it to disk.
func appendNote(path, signed string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the checkpoints: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("append a checkpoint: %w", err)
	}
	if at > 0 {
		signed = "\n" + signed
	}
	if _, err := f.WriteString(signed); err != nil { // such as a full disk: a part of a note would make the file unreadable
		return errors.Join(fmt.Errorf("append a checkpoint: %w", err), f.Truncate(at))
	}
	return f.Sync()
}

func (k *CheckpointWriter) post(ctx context.Context, signed string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.To, bytes.NewReader([]byte(signed)))
	if err != nil {
		return fmt.Errorf("post a checkpoint: %w", err)
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	res, err := k.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("post a checkpoint: %w", err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post a checkpoint: it was answered with %s", res.Status)
	}
	return nil
}
