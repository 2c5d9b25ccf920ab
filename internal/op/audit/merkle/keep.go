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
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"atrium/internal/platform/store"
)

const (
	keepEvery  = time.Hour
	keepLast   = 8 * time.Second // for the last checkpoints, at shutdown
	keepBatch  = 100             // checkpoints that are appended and synced together
	keepAtOnce = 4               // logs that are looked at, and checkpoints that are posted, at once
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

// ReadCheckpoints reads signed notes that are separated by blank lines. Returns an error unless the key has signed all of them, or one
// of the former keys of the company that a note is about. The last one may be incomplete, and is left out then.
func ReadCheckpoints(b []byte, public string, former map[string][]string) (out []Checkpoint, err error) {
	b = whole(b)
	// A note itself contains a blank line before its signatures, so notes are split at a blank line followed by an origin.
	for part := range strings.SplitSeq("\n\n"+string(b), "\n\n"+originPrefix) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		company, _, _ := strings.Cut(strings.TrimPrefix(part, originPrefix), "\n")
		c, err := OpenCheckpoint(strings.TrimRight(originPrefix+part, "\n")+"\n", append([]string{public}, former[company]...)...)
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
func (k *CheckpointWriter) Open(ctx context.Context) error {
	k.last = map[string]Checkpoint{}
	if k.isURL() {
		return nil
	}
	b, err := os.ReadFile(k.To)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the checkpoints: %w", err)
	}
	former, err := FormerKeys(ctx, k.Store.Reader())
	if err != nil {
		return err
	}
	all, err := ReadCheckpoints(b, k.Key.Public, former)
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

// atLast seals the entries of the last minute and stores the checkpoints of the logs that have grown.
func (k *CheckpointWriter) atLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keepLast)
	defer cancel()
	err := k.Sealer.since(ctx, time.Now().Add(-lookDeep))
	return errors.Join(err, k.keep(ctx, func(c Checkpoint) bool { return c.Size != k.last[c.Company].Size }))
}

// Keep stores a checkpoint of every log that has changed since its last one. For a log that is shorter than its last
// checkpoint, or does not continue it, it stores nothing and returns an error with the company's id, of the first such log; the
// other logs are stored.
func (k *CheckpointWriter) Keep(ctx context.Context) error {
	return k.keep(ctx, func(Checkpoint) bool { return true })
}

// keep is Keep for some of the logs, selected by company and size.
func (k *CheckpointWriter) keep(ctx context.Context, selected func(Checkpoint) bool) error {
	logs, err := sizes(ctx, k.Store.Reader())
	if err != nil {
		return err
	}
	logs = slices.DeleteFunc(logs, func(c Checkpoint) bool { return c.Size == 0 && k.last[c.Company].Size == 0 || !selected(c) })
	failed := 0
	for batch := range slices.Chunk(logs, keepBatch) {
		for i, fault := range k.keepTogether(ctx, batch) {
			if fault == nil {
				continue
			}
			if failed++; failed == 1 {
				err = fmt.Errorf("%s: %w", batch[i].Company, fault)
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("keep the checkpoints of %d logs: %w", len(logs), ctx.Err())
		}
	}
	if failed > 1 {
		err = fmt.Errorf("%d logs, the first of which is %w", failed, err)
	}
	return err
}

// keepTogether stores the checkpoints of a batch of logs, and returns the errors by their places in it.
func (k *CheckpointWriter) keepTogether(ctx context.Context, batch []Checkpoint) []error {
	heads, notes, errs := make([]Checkpoint, len(batch)), make([]string, len(batch)), make([]error, len(batch))
	var work errgroup.Group
	work.SetLimit(keepAtOnce)
	for i, c := range batch {
		work.Go(func() error {
			heads[i], notes[i], errs[i] = k.note(ctx, c.Company)
			if notes[i] != "" && k.isURL() {
				errs[i] = k.post(ctx, notes[i])
			}
			return nil
		})
	}
	_ = work.Wait() // the errors are in errs
	var appended error
	if text := strings.Join(slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return n == "" }), "\n"); text != "" && !k.isURL() {
		appended = appendNotes(k.To, text)
	}
	for i := range batch {
		if notes[i] == "" || errs[i] != nil {
			continue
		}
		if errs[i] = appended; appended == nil {
			k.last[heads[i].Company] = heads[i]
		}
	}
	return errs
}

// note returns the head of a log and the note about it; "" for a log that is as its last checkpoint says.
func (k *CheckpointWriter) note(ctx context.Context, company string) (head Checkpoint, signed string, err error) {
	if head, err = Head(ctx, k.Store.Reader(), company); err != nil || head == k.last[company] {
		return head, "", err
	}
	if err := k.continues(ctx, head); err != nil {
		return head, "", err
	}
	signed, err = k.Key.Sign(head)
	return head, signed, err
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

// appendNotes appends notes to the file and syncs it to disk.
func appendNotes(path, signed string) (err error) {
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
	_, _ = io.CopyN(io.Discard, res.Body, 1<<16) // read to its end, so that the connection is used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post a checkpoint: it was answered with %s", res.Status)
	}
	return nil
}
