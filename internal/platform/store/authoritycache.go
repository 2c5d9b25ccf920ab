package store

import "sync"

// maxCached limits the values of one AuthorityCache. When it is exceeded, all of them are dropped.
const maxCached = 20_000

// AuthorityCache caches values derived from rows, by key, until authority changes anywhere (Store.Authority). The source table needs
// the triggers that announce its changes, and code that changes it must call AuthorityChanged. The zero value is ready and safe
// for concurrent use. Cached values are shared, so callers must not modify them.
type AuthorityCache[T any] struct {
	mu      sync.RWMutex
	version uint64
	made    map[string]T
}

// Get returns the cached value of a key, or reads and caches it. While changes by other processes are not being heard, it reads
// each time. Errors are not cached.
func (r *AuthorityCache[T]) Get(s *Store, key string, read func() (T, error)) (T, error) {
	return r.GetWhile(s, key, func(T) bool { return true }, read)
}

// GetWhile is Get for values that can also expire: a cached value for which good returns false is read again.
func (r *AuthorityCache[T]) GetWhile(s *Store, key string, good func(T) bool, read func() (T, error)) (T, error) {
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
	if r.version < version || len(r.made) >= maxCached || r.made == nil {
		r.version, r.made = max(r.version, version), map[string]T{}
	}
	if r.version == version { // else authority changed while this was read
		r.made[key] = made
	}
	return made, nil
}

// Kept returns the cached value of a key, if it is valid.
func (r *AuthorityCache[T]) Kept(s *Store, key string) (T, bool) {
	version, heard := s.Authority()
	kept, ok := r.kept(key, version)
	return kept, ok && heard
}

func (r *AuthorityCache[T]) kept(key string, version uint64) (T, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	kept, ok := r.made[key]
	return kept, ok && r.version == version
}

// Forget drops the cached value of a key, so that the next Get reads it again.
func (r *AuthorityCache[T]) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, key)
}
