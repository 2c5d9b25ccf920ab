package op

import (
	"context"
	"sync"
)

// maxKnown bounds what is remembered of companies; past it all of it is forgotten.
const maxKnown = 20_000

// known is what was made of companies' rows, under one version of store.Authority.
type known struct {
	mu      sync.RWMutex
	version uint64
	made    map[string]any
}

// Known returns what was made of some of the company's rows, and makes it when it is not at hand. What is made is shared, so
// nobody changes it. It is forgotten with everything that is cached of authority (store.Authority), so the table that it is made
// of needs the triggers that announce its changes, and whoever changes it calls AuthorityChanged. name tells what is
// remembered apart.
func Known[T any](ctx context.Context, tx *Tx, name string, read func(context.Context) (T, error)) (T, error) {
	k, key := &tx.engine.known, name+"/"+tx.principal.CompanyID
	version, heard := tx.engine.Store.Authority()
	if heard {
		k.mu.RLock()
		hit, ok := k.made[key].(T)
		ok = ok && k.version == version
		k.mu.RUnlock()
		if ok {
			return hit, nil
		}
	}
	made, err := read(ctx)
	if err != nil || !heard {
		return made, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != version || len(k.made) >= maxKnown || k.made == nil {
		k.version, k.made = version, map[string]any{}
	}
	k.made[key] = made
	return made, nil
}

// Forget makes the next Known of the company make what it remembers anew: what was remembered has turned out to be old.
func (tx *Tx) Forget(name string) {
	k := &tx.engine.known
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.made, name+"/"+tx.principal.CompanyID)
}
