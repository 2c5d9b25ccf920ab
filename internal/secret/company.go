package secret

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
)

// opened are all secrets of a company in the clear, with what masks them. It is immutable.
type opened struct {
	state  [sha256.Size]byte   // of the rows from which it was made
	values map[string][]string // by the secret's name: the present value, and those before it
	all    *Masker             // hides every piece of every value
}

// size returns the bytes of memory that it takes, about.
func (o *opened) size() int {
	n := o.all.pieces.size()
	for name, values := range o.values {
		for _, value := range values {
			n += 64 + len(name) + len(value)
		}
	}
	return n
}

// Hide returns a function that masks the values of all secrets of the context's company, earlier ones too, and pasted keys, in a JSON
// value. Do not call it in a transaction: it decrypts the secrets, like Open.
func Hide(ctx context.Context, db *ent.Client, sealer op.Sealer) (func(any) any, error) {
	o, err := openedNow(ctx, db, sealer)
	if err != nil {
		return nil, err
	}
	return o.all.WithKeys().Value, nil
}

// Mask returns a masker for texts that no call brought: it hides values of eight and more bytes of all secrets of the context's
// company, and 32 bytes of them. Do not call it in a transaction: it decrypts the secrets, like Open.
func Mask(ctx context.Context, db *ent.Client, sealer op.Sealer) (*Masker, error) {
	o, err := openedNow(ctx, db, sealer)
	if err != nil {
		return nil, err
	}
	return &Masker{pieces: o.all.pieces, alone: bitset{}}, nil
}

// Uses are the secrets that one call uses.
type Uses struct {
	Values map[string]string // by name
	Opened []Opened
	Mask   *Masker // hides every piece of them and of their earlier values, and otherwise what the masker of Mask hides
}

// MaxUsed bounds the values that one call uses, together, in bytes.
const MaxUsed = 64 << 10

// ErrTooMuch is returned when the secrets that a call uses are longer than MaxUsed together.
var ErrTooMuch = errors.New("the secrets are longer than a call may use")

// Use opens the named secrets of the context's company for a call. If one does not exist, it returns that name. Do not call it in
// a transaction: it decrypts the secrets, like Open.
func Use(ctx context.Context, db *ent.Client, sealer op.Sealer, names []string) (u Uses, missing string, err error) {
	rows, err := db.Secret.Query().Where(secret.NameIn(names...)).Select(secret.FieldName, secret.FieldLastUsedAt, secret.FieldAllowedHosts).All(ctx)
	if err != nil {
		return u, "", fmt.Errorf("read the secrets of a call: %w", err)
	}
	o, err := openedNow(ctx, db, sealer)
	if err != nil {
		return u, "", err
	}
	u.Values = map[string]string{}
	var values []string
	bytes := 0
	for _, name := range names {
		if _, done := u.Values[name]; done {
			continue
		}
		i := slices.IndexFunc(rows, func(s *ent.Secret) bool { return s.Name == name })
		if i < 0 || o.values[name] == nil {
			return u, name, nil
		}
		value := o.values[name][0]
		u.Values[name] = value
		u.Opened = append(u.Opened, Opened{Name: name, Value: value, Hosts: rows[i].AllowedHosts, id: rows[i].ID, lastUsed: rows[i].LastUsedAt})
		values = append(values, o.values[name]...)
		if bytes += len(value); bytes > MaxUsed {
			return u, "", ErrTooMuch
		}
	}
	u.Mask = &Masker{pieces: o.all.pieces, alone: bitset{}, short: shortForms(values)}
	if len(values) > 0 {
		u.Mask.alone = o.all.pieces.of(values)
	}
	return u, "", nil
}

// openedNow returns the secrets of the context's company as they are now. SQLite reads a column behind a long value by reading the value,
// so it asks of all rows for the id and the version alone.
func openedNow(ctx context.Context, db *ent.Client, sealer op.Sealer) (*opened, error) {
	who, ok := principal.From(ctx)
	if !ok {
		return nil, errors.New("secrets are opened for a company")
	}
	rows, err := db.Secret.Query().Order(secret.ByID()).Select(secret.FieldID, secret.FieldVersion).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	state := stateOf(rows)
	if o := kept.get(who.CompanyID, state); o != nil {
		return o, nil
	}
	leave, err := opening.Take(ctx, who.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("open the secrets: %w", err)
	}
	defer leave()
	if o := kept.get(who.CompanyID, state); o != nil {
		return o, nil // somebody else has opened them meanwhile
	}
	if rows, err = db.Secret.Query().Order(secret.ByID()).All(ctx); err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	o, err := open(ctx, sealer, rows)
	if err != nil {
		return nil, err
	}
	kept.put(who.CompanyID, o)
	return o, nil
}

// opening limits how many companies' secrets are opened at once; those of one company are opened once for all who wait.
var opening = share.New(max(1, runtime.GOMAXPROCS(0)/2), 1)

func open(ctx context.Context, sealer op.Sealer, rows []*ent.Secret) (*opened, error) {
	o := &opened{state: stateOf(rows), values: make(map[string][]string, len(rows))}
	var all []string
	for _, s := range rows {
		values, err := unsealAll(sealer, s)
		if err != nil {
			return nil, err
		}
		o.values[s.Name] = values
		all = append(all, values...)
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("open the secrets: %w", err)
		}
	}
	p, err := newPieces(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("index the secrets: %w", err)
	}
	o.all = &Masker{pieces: p, short: shortForms(all)}
	return o, nil
}

// stateOf tells the secrets of a company from those that it had before and will have later.
func stateOf(rows []*ent.Secret) (state [sha256.Size]byte) {
	h := sha256.New()
	for _, s := range rows {
		_, _ = fmt.Fprintln(h, s.ID, s.Version)
	}
	h.Sum(state[:0])
	return state
}

// maxKept is the memory that opened secrets take in a process, in bytes, unless those of the last company alone take more.
const maxKept = 64 << 20

// kept holds the opened secrets that were used last, by company. It is one for the process, like the memory that it bounds.
var kept = newShelf(maxKept)

type shelf struct {
	mu    sync.Mutex
	most  int // bytes
	bytes int
	used  *simplelru.LRU[string, *opened]
}

func newShelf(most int) *shelf {
	s := &shelf{most: most}
	s.used, _ = simplelru.NewLRU(1<<20, func(_ string, o *opened) { s.bytes -= o.size() })
	return s
}

// get returns the opened secrets of a company if they are those of the state; nil otherwise.
func (s *shelf) get(companyID string, state [sha256.Size]byte) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.used.Get(companyID); ok && o.state == state {
		return o
	}
	return nil
}

func (s *shelf) put(companyID string, o *opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.Remove(companyID)
	s.used.Add(companyID, o)
	for s.bytes += o.size(); s.bytes > s.most && s.used.Len() > 1; {
		s.used.RemoveOldest()
	}
}
