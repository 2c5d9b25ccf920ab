package op

import "context"

// Known returns what was made of some of the company's rows, and makes it when it is not remembered; store.Remembered says for how
// long it is kept. name tells what is kept apart.
func Known[T any](ctx context.Context, tx *Tx, name string, read func(context.Context) (T, error)) (T, error) {
	v, err := tx.engine.known.Get(tx.engine.Store, tx.knownAs(name), func() (any, error) { return read(ctx) })
	made, _ := v.(T)
	return made, err
}

// Forget has the next Known of the company make what it keeps anew: what was kept has turned out to be old.
func (tx *Tx) Forget(name string) { tx.engine.known.Forget(tx.knownAs(name)) }

func (tx *Tx) knownAs(name string) string { return name + "/" + tx.principal.CompanyID }
