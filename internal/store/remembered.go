package store

import "sync"

// maxRemembered bounds the values that one Remembered keeps; past it all of them are forgotten.
const maxRemembered = 20_000

// Remembered keeps what was made of rows by key, for as long as nothing of authority has changed anywhere (Store.Authority): the
// table that it is made of needs the triggers that announce its changes, and whoever changes it calls AuthorityChanged. The zero
// value is ready. What is kept is shared, so nobody changes it.
type Remembered[T any] struct {
	mu      sync.RWMutex
	version uint64
	made    map[string]T
}

// Get returns the value of a key, and makes it when it is not at hand. While changes by others are not heard, it makes it each time.
func (r *Remembered[T]) Get(s *Store, key string, read func() (T, error)) (T, error) {
	version, heard := s.Authority()
	if heard {
		r.mu.RLock()
		hit, ok := r.made[key]
		ok = ok && r.version == version
		r.mu.RUnlock()
		if ok {
			return hit, nil
		}
	}
	made, err := read()
	if err != nil || !heard {
		return made, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != version || len(r.made) >= maxRemembered || r.made == nil {
		r.version, r.made = version, map[string]T{}
	}
	r.made[key] = made
	return made, nil
}

// Forget has the next Get of a key make its value anew: what was kept has turned out to be old.
func (r *Remembered[T]) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, key)
}
