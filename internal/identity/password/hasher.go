package password

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"
)

// maxBytes bounds the length of a text that is hashed at all. Check has a lower limit.
const maxBytes = 4 * MaxLength

// ErrBusy is wrapped in the error of Hash and Verify when too many callers wait already, or the wait took too long. The code of
// the error is unavailable.
var ErrBusy = errors.New("password: too many wait to be hashed")

// Options limit the work of a Hasher. The zero value is what production uses.
type Options struct {
	// Workers is how many passwords are hashed at once. Default: GOMAXPROCS minus one, at least 1 and at most
	// 8.
	Workers int
	// Queue is how many callers may wait. Default: 32 for each worker, about as many as are served within Wait.
	Queue int
	// Wait is how long a caller waits for a worker. Default: 2 s.
	Wait time.Duration
	// Memory is how much a hash takes, in KiB. Default: 64 MiB. Only tests take less.
	Memory uint32
}

// Hasher hashes and verifies passwords, a limited number at once, which the sources of calls share. Safe for concurrent use.
type Hasher struct {
	workers int
	turns   *turns
	params  argon2id.Params
	nobody  string // the parameters of new hashes with a salt and a key of zeros, which no password is known to have
	before  func() // hook for tests: runs at the start of every verification, while it holds a worker
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
	if o.Memory == 0 {
		o.Memory = 64 * 1024
	}
	// One pass and one lane. More lanes would take the processors that Workers leaves to other work, and would not make a hash
	// harder to guess.
	p := argon2id.Params{Memory: o.Memory, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return &Hasher{
		workers: o.Workers, turns: newTurns(o.Workers, o.Queue, o.Wait), params: p, before: func() {},
		nobody: fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", p.Memory, p.Iterations, p.Parallelism, strings.Repeat("A", 22), strings.Repeat("A", 43)),
	}
}

// Workers returns how many passwords are hashed at once.
func (h *Hasher) Workers() int { return h.workers }

// Hash returns the argon2id hash of the password in its text form. Returns ErrBusy, wrapped, when no worker becomes free in
// time, and the context's error when that ends first.
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

// Verify reports whether the password matches the hash. An empty hash stands for an account that does not exist or has no
// password; it takes the same work and never matches. Returns the errors of Hash, and an error for a malformed hash.
func (h *Hasher) Verify(ctx context.Context, hash, plain string) (bool, error) {
	possible := hash != "" && len(plain) <= maxBytes
	if !possible {
		hash, plain = h.nobody, ""
	}
	if err := Bounded(hash); err != nil {
		return false, fmt.Errorf("verify the password: %w", err)
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

// Bounded refuses a hash whose parameters would panic or exhaust the machine. Hashes come with companies that are imported, and
// whoever exported one may have written it.
func Bounded(hash string) error {
	p, _, _, err := argon2id.DecodeHash(hash)
	if err == nil && (p.Iterations < 1 || p.Iterations > 16 || p.Parallelism < 1 || p.Memory > 256*1024 || p.SaltLength < 8 || p.KeyLength < 16 || p.KeyLength > 64) {
		err = errors.New("the hash has parameters out of bounds")
	}
	return err
}

// NeedsRehash reports whether a hash has other parameters than new hashes. A caller that has just verified the password should
// then hash it again.
func (h *Hasher) NeedsRehash(hash string) bool {
	p, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || *p != h.params
}

// work runs fn on a thread of low priority once a worker is free.
func (h *Hasher) work(ctx context.Context, fn func() error) error {
	leave, err := h.turns.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the priority cannot be raised again, so the thread ends with the goroutine
		lowerPriority()
		done <- fn()
	}()
	return <-done
}
