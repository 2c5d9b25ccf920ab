package store

import "sync"

// maxRemembered bounds the values that one Remembered keeps; past it all of them are forgotten.
const maxRemembered = 20_000

// Remembered keeps what was made of rows by key, for as long as nothing of authority has changed anywhere (Store.Authority): the
// table that it is made of needs the triggers that announce its changes, and whoever changes it calls AuthorityChanged. The zero
// value is ready, and safe for concurrent use. What is kept is shared, so nobody changes it.
type Remembered[T any] struct {
	mu      sync.RWMutex
	version uint64
	made    map[string]T
}

// Get returns the value of a key, and makes it when it is not kept. While changes by others are not heard, it makes it each time.
// Failures are not kept.
func (r *Remembered[T]) Get(s *Store, key string, read func() (T, error)) (T, error) {
	return r.GetWhile(s, key, func(T) bool { return true }, read)
}

// GetWhile is Get for values that end by themselves as well: one that is not good any more is made anew.
func (r *Remembered[T]) GetWhile(s *Store, key string, good func(T) bool, read func() (T, error)) (T, error) {
	version, heard := s.Authority()
	if kept, ok := r.kept(key, version); ok && heard && good(kept) {
		return kept, nil
	}
	made, err := read()
	if err != nil || !heard {
		return made, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version < version || len(r.made) >= maxRemembered || r.made == nil {
		r.version, r.made = max(r.version, version), map[string]T{}
	}
	if r.version == version { // else authority changed while this was read
		r.made[key] = made
	}
	return made, nil
}

// Kept returns the value of a key where it need not be made.
func (r *Remembered[T]) Kept(s *Store, key string) (T, bool) {
	version, heard := s.Authority()
	kept, ok := r.kept(key, version)
	return kept, ok && heard
}

func (r *Remembered[T]) kept(key string, version uint64) (T, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	kept, ok := r.made[key]
	return kept, ok && r.version == version
}

// Forget has the next Get of a key make its value anew: what was kept has turned out to be old.
func (r *Remembered[T]) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, key)
}
