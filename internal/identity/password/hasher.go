package password

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"

	"atrium/internal/apperr"
)

// params are those of new hashes: 64 MiB, one pass. One lane, because a hash with more of them takes the processors that
// Options.Workers leaves to everybody else; it is no easier to guess for that.
var params = argon2id.Params{Memory: 64 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// maxBytes bounds what is hashed at all; Check refuses far shorter passwords.
const maxBytes = 4 * MaxLength

// ErrBusy is what callers find in an error of Hash and Verify when too many passwords wait already, or the wait was too
// long. Its code is unavailable.
var ErrBusy = errors.New("password: too many wait to be hashed")

// Options bound the work of a Hasher. The zero value is what production uses.
type Options struct {
	// Workers is how many passwords are hashed at once, at 64 MiB each; by default one a processor but one, and 8 at most.
	Workers int
	// Queue is how many callers may wait; by default 32 for each worker, which is about what Wait is enough for.
	Queue int
	// Wait is how long a caller waits for a worker; by default 2 s.
	Wait time.Duration
}

// Hasher hashes and verifies passwords, a bounded number at once. Safe for concurrent use.
type Hasher struct {
	workers chan struct{}
	waiting atomic.Int64
	queue   int64
	wait    time.Duration
	params  argon2id.Params
	nobody  string // the hash of no password, for accounts that have none
	before  func() // what tests do ahead of every verification's work, while it holds a worker
}

// New returns a Hasher.
func New(o Options) *Hasher {
	if o.Workers <= 0 {
		o.Workers = min(max(runtime.GOMAXPROCS(0)-1, 1), 8)
	}
	if o.Queue <= 0 {
		o.Queue = 32 * o.Workers
	}
	if o.Wait <= 0 {
		o.Wait = 2 * time.Second
	}
	return &Hasher{
		workers: make(chan struct{}, o.Workers), queue: int64(o.Queue), wait: o.Wait, params: params, nobody: nobodyHash, before: func() {},
	}
}

// Workers returns how many passwords are hashed at once.
func (h *Hasher) Workers() int { return cap(h.workers) }

// nobodyHash has the parameters of new hashes, a salt and a key of zeros: no password is known that leads to it.
var nobodyHash = fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	params.Memory, params.Iterations, params.Parallelism)

// Hash returns the text form of the password's argon2id hash. Returns ErrBusy, wrapped, when no worker is free in time,
// and the context's error when it ends first.
func (h *Hasher) Hash(ctx context.Context, plain string) (string, error) {
	if len(plain) > maxBytes {
		return "", fmt.Errorf("hash the password: it has more than %d bytes", maxBytes)
	}
	var hash string
	err := h.work(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(norm.NFKC.String(plain), &h.params)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return hash, nil
}

// Verify reports whether the password is the one that was hashed. An empty hash, which stands for an account that is not
// there or has no password, takes the same work and is never matched. Errors are those of Hash, and one for a hash that
// is none.
func (h *Hasher) Verify(ctx context.Context, hash, plain string) (bool, error) {
	possible := hash != "" && len(plain) <= maxBytes
	if !possible {
		hash, plain = h.nobody, ""
	}
	var same bool
	err := h.work(ctx, func() (err error) {
		h.before()
		same, err = argon2id.ComparePasswordAndHash(norm.NFKC.String(plain), hash)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("verify the password: %w", err)
	}
	return same && possible, nil
}

// NeedsRehash reports whether a hash was made with other parameters than new ones are. Whoever has just verified the
// password should hash it again.
func (h *Hasher) NeedsRehash(hash string) bool {
	p, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || *p != h.params
}

// work runs fn on a thread of low priority once a worker is free.
func (h *Hasher) work(ctx context.Context, fn func() error) error {
	if err := h.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-h.workers }()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread, whose priority cannot be raised again, ends with the goroutine
		lowerPriority()
		done <- fn()
	}()
	return <-done
}

// acquire takes a worker.
func (h *Hasher) acquire(ctx context.Context) error {
	select {
	case h.workers <- struct{}{}:
		return nil
	default:
	}
	if h.waiting.Add(1) > h.queue {
		h.waiting.Add(-1)
		return busy()
	}
	defer h.waiting.Add(-1)
	timer := time.NewTimer(h.wait)
	defer timer.Stop()
	select {
	case h.workers <- struct{}{}:
		return nil
	case <-timer.C:
		return busy()
	case <-ctx.Done():
		return fmt.Errorf("wait for a worker: %w", ctx.Err())
	}
}

func busy() error {
	err := apperr.Wrap(ErrBusy, apperr.Unavailable, "Too many people are signing in at this moment. Try again shortly.")
	err.RetryAfter = 2
	return err
}
