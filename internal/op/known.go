package op

import "context"

// Known returns a value derived from some of the company's rows, under a name. It calls read when the value is not in memory;
// store.AuthorityCache says how long a value stays there. What a replica or a write transaction reads is not stored: the replica
// may know less than this node has heard, and the transaction's own changes may be rolled back.
func Known[T any](ctx context.Context, tx *Tx, name string, read func(context.Context) (T, error)) (T, error) {
	if tx.Client != tx.engine.Store.Reader() {
		return read(ctx)
	}
	v, err := tx.engine.known.Get(tx.engine.Store, tx.knownAs(name), func() (any, error) { return read(ctx) })
	made, _ := v.(T)
	return made, err
}

// Forget drops the company's value of that name, so that the next Known reads it again. Callers use it when a value has turned out
// to be out of date.
func (tx *Tx) Forget(name string) { tx.engine.known.Forget(tx.knownAs(name)) }

func (tx *Tx) knownAs(name string) string { return name + "/" + tx.principal.CompanyID }
