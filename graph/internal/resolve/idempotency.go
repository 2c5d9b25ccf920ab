package resolve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
)

// A call of one mutation with an Idempotency-Key takes effect once. The operation's result is stored in the transaction of the
// effect. A repeated call answers its selection from the stored result, and reads edges as they are now. The whole answer cannot
// be stored that way, because its edges are read after the commit: a crash in between would let the next call take effect again.
// The stored result may contain API keys and secrets that are shown once, so it is sealed.

// Key is the idempotency key of a call.
type Key struct {
	text        string
	fingerprint [32]byte
	Replayed    bool // the stored result of an earlier call is answered
}

type contextKey struct{}

// KeyOf returns the context's key; nil if there is none.
func KeyOf(ctx context.Context) *Key {
	k, _ := ctx.Value(contextKey{}).(*Key)
	return k
}

// WithKey puts the key of a mutation, whose body is raw, into the context. Returns validation_error for an invalid key, and for a
// call of several mutations, because each has an effect of its own.
func WithKey(ctx context.Context, r *http.Request, raw []byte, oc *graphql.OperationContext) (context.Context, error) {
	if oc.Operation.Operation != ast.Mutation {
		return ctx, nil
	}
	k := &Key{}
	var err error
	if k.text, k.fingerprint, err = gate.IdempotencyKey(r, raw); err != nil || k.text == "" {
		return ctx, err
	}
	effects := 0
	for _, f := range graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{"Mutation"}) { // this slice belongs to the operation: do not modify it
		if f.Name != "__typename" {
			effects++
		}
	}
	if effects > 1 {
		return ctx, apperr.InvalidField("Idempotency-Key", "belongs to calls of one mutation")
	}
	return context.WithValue(ctx, contextKey{}, k), nil
}

// storedResult is an operation's result as it is stored. Secrets holds the values of the secrets in Out, because their types encode as
// ***.
type storedResult[Out any] struct {
	Out     Out
	Secrets []string
}

// encodeStored encodes and seals an operation's result.
func encodeStored[Out any](e *op.Engine, k *Key, out Out) (op.Answer, error) {
	doc := storedResult[Out]{Out: out}
	for _, secret := range secretsIn(&doc.Out) {
		doc.Secrets = append(doc.Secrets, secret.String())
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return op.Answer{}, fmt.Errorf("write what the operation returned: %w", err)
	}
	sealed, err := e.Sealer.Seal(text, k.fingerprint[:])
	if err != nil {
		return op.Answer{}, fmt.Errorf("seal what the operation returned: %w", err)
	}
	return op.Answer{Status: http.StatusOK, Header: map[string]string{op.SealedHeader: "true"}, Body: sealed}, nil
}

// decodeStored decodes a result that encodeStored has written.
func decodeStored[Out any](e *op.Engine, k *Key, a *op.Answer) (Out, error) {
	var doc storedResult[Out]
	text, err := e.Sealer.Unseal(a.Body, k.fingerprint[:])
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		return doc.Out, fmt.Errorf("read what the operation returned: %w", err)
	}
	for i, secret := range secretsIn(&doc.Out) {
		secret.SetString(doc.Secrets[i])
	}
	return doc.Out, nil
}

// secretsIn returns the fields of a result that hold a secret.
func secretsIn(out any) []reflect.Value {
	v := reflect.ValueOf(out).Elem()
	if v.Kind() != reflect.Struct {
		return nil
	}
	var fields []reflect.Value
	for f, field := range v.Fields() {
		if f.Type == reflect.TypeFor[secret.Value]() {
			fields = append(fields, field)
		}
	}
	return fields
}
