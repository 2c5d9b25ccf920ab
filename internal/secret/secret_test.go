package secret_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	entsecret "atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// run returns only the error of an operation, for operations that must fail.
func run[In, Out any](ctx context.Context, w *testkit.World, o *op.Operation[In, Out], in In) error {
	_, _, err := op.Run(ctx, w.Engine, o, in, nil)
	return err
}

// requireAbsent fails if the text contains the value, plain or encoded.
func requireAbsent(t *testing.T, text []byte, value string) {
	t.Helper()
	for _, form := range []string{value, hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))} {
		require.False(t, bytes.Contains(text, []byte(form)), "%q was found", form)
	}
}

func entriesOf(t *testing.T, w *testkit.World, tenant *testkit.Tenant, action string) []*ent.AuditEntry {
	t.Helper()
	entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action)).
		Order(ent.Asc(auditentry.FieldID)).All(w.As(tenant, principal.Owner))
	require.NoError(t, err)
	return entries
}

// TestValuesStayInside runs through a secret's life and looks for its values in all outputs.
func TestValuesStayInside(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const first, second, third = "first-plaintext-1", "second-plaintext-2", "third-plaintext-3"
		var out bytes.Buffer
		w.Engine.Log = slog.New(slog.NewJSONHandler(&out, nil))
		ctx := w.As(w.A, principal.Admin)

		s := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: first, Description: new("of the shop")})
		require.Equal(t, 1, s.Version)
		require.Equal(t, w.A.Users[principal.Admin].ID, s.CreatedBy)
		requireOpens(t, w, w.A, "TOKEN", first)

		for _, in := range []secret.CreateSecretInput{{Name: "TOKEN", Value: third, AllowedHosts: []string{"*"}}, {Name: "lower", Value: third, AllowedHosts: []string{"*"}}} {
			err := run(ctx, w, secret.CreateSecret, in)
			require.Error(t, err)
			_, _ = fmt.Fprintf(&out, "%v %+v %#v", err, err, err)
		}
		two := testkit.Run(t, w, ctx, secret.UpdateSecret, secret.UpdateSecretInput{ByID: op.ByID{ID: s.ID}, Value: op.SetTo[secret.Value](second)})
		require.Equal(t, 2, two.Version)
		require.Equal(t, "of the shop", two.Description)
		requireOpens(t, w, w.A, "TOKEN", second)

		three := testkit.Run(t, w, ctx, secret.RotateSecret, secret.RotateSecretInput{ByID: op.ByID{ID: s.ID}, Value: third})
		require.Equal(t, 3, three.Version)
		requireOpens(t, w, w.A, "TOKEN", third)

		same := testkit.Run(t, w, ctx, secret.UpdateSecret, secret.UpdateSecretInput{ByID: op.ByID{ID: s.ID}, Description: op.SetTo("renamed")})
		require.Equal(t, 3, same.Version)
		requireOpens(t, w, w.A, "TOKEN", third)

		list := testkit.Run(t, w, ctx, secret.ListSecrets, secret.ListSecretsInput{})
		got := testkit.Run(t, w, ctx, secret.GetSecret, op.ByID{ID: s.ID})
		_, _ = fmt.Fprintf(&out, "%v %+v %v %v %v", s, two, three, list.Rows, got)
		require.NoError(t, json.NewEncoder(&out).Encode([]any{s, two, three, same, list, got}))

		rotations := entriesOf(t, w, w.A, "secret.updated")
		require.Len(t, rotations, 3)
		require.JSONEq(t, `{"value":{"from":"***","to":"***"},"version":{"from":1,"to":2}}`, string(rotations[0].Changes))
		require.JSONEq(t, `{"value":{"from":"***","to":"***"},"version":{"from":2,"to":3}}`, string(rotations[1].Changes))
		require.JSONEq(t, `{"description":{"from":"of the shop","to":"renamed"}}`, string(rotations[2].Changes))
		require.JSONEq(t, `{"name":{"from":null,"to":"TOKEN"},"description":{"from":null,"to":"of the shop"},"version":{"from":null,"to":1},
			"allowedHosts":{"from":null,"to":["*"]},"value":{"from":null,"to":"***"},"createdBy":{"from":null,"to":"`+s.CreatedBy+`"}}`, string(entriesOf(t, w, w.A, "secret.created")[0].Changes))

		testkit.Run(t, w, ctx, secret.DeleteSecret, op.ByID{ID: s.ID})
		require.Len(t, entriesOf(t, w, w.A, "secret.deleted"), 1)
		testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: first}) // the name is free again

		everything := append([]byte(w.Dump(t)), out.Bytes()...)
		require.True(t, bytes.Contains(everything, []byte("TOKEN")), "the dump holds nothing")
		for _, value := range []string{first, second, third} {
			requireAbsent(t, everything, value)
		}
	})
}

func requireOpens(t *testing.T, w *testkit.World, tenant *testkit.Tenant, name, want string) {
	t.Helper()
	opened, err := secret.Open(w.As(tenant, principal.Owner), w.Store.Reader(), w.Engine.Sealer, name)
	got := opened.Value
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestNamesAreUniqueInACompany(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := testkit.Run(t, w, w.As(w.A, principal.Owner), secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "value of a"})
		testkit.Run(t, w, w.As(w.B, principal.Owner), secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "value of b"})

		err := run(w.As(w.A, principal.Owner), w, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "again"})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		require.Equal(t, "Another secret has this name.", apperr.From(err).Message)
		requireOpens(t, w, w.A, "TOKEN", "value of a")
		requireOpens(t, w, w.B, "TOKEN", "value of b")

		ctx := w.As(w.B, principal.Owner) // ids of company A are unknown in company B
		id := op.ByID{ID: a.ID}
		for _, err := range []error{
			run(ctx, w, secret.GetSecret, id),
			run(ctx, w, secret.UpdateSecret, secret.UpdateSecretInput{ByID: id, Value: op.SetTo[secret.Value]("mine")}),
			run(ctx, w, secret.RotateSecret, secret.RotateSecretInput{ByID: id, Value: "mine"}),
			run(ctx, w, secret.DeleteSecret, id),
		} {
			require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
			require.Equal(t, "Secret not found.", apperr.From(err).Message)
		}
		requireOpens(t, w, w.A, "TOKEN", "value of a")
		require.Equal(t, 1, testkit.Run(t, w, ctx, secret.ListSecrets, secret.ListSecretsInput{}).Total)
	})
}

func TestWhoMayTouchSecrets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		s := testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "value"})
		id := op.ByID{ID: s.ID}
		all := func(ctx context.Context) map[string]error {
			return map[string]error{
				"list":   run(ctx, w, secret.ListSecrets, secret.ListSecretsInput{}),
				"read":   run(ctx, w, secret.GetSecret, id),
				"create": run(ctx, w, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "OTHER", Value: "value"}),
				"update": run(ctx, w, secret.UpdateSecret, secret.UpdateSecretInput{ByID: id, Value: op.SetTo[secret.Value]("x")}),
				"rotate": run(ctx, w, secret.RotateSecret, secret.RotateSecretInput{ByID: id, Value: "x"}),
				"delete": run(ctx, w, secret.DeleteSecret, id),
			}
		}
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			for name, err := range all(w.As(w.A, role)) {
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), "%s %s", role, name)
			}
		}
		p, _ := principal.From(owner)
		key := *p
		key.Scopes = principal.ScopeOf("secrets:read")
		key.Method, key.KeyID, key.KeyName = principal.MethodAPIKey, "key_1", "reader"
		for name, err := range all(principal.With(t.Context(), &key)) {
			if name == "list" || name == "read" {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), name)
			require.Equal(t, "secrets:write", apperr.From(err).Reason)
		}
		requireOpens(t, w, w.A, "TOKEN", "value")
		denials := entriesOf(t, w, w.A, "secret.updated")
		require.Len(t, denials, 6)
		for _, e := range denials {
			require.Equal(t, auditentry.OutcomeDenied, e.Outcome)
			require.Empty(t, e.Changes)
		}
	})
}

// TestSealedValuesStayInTheirRow copies one row's ciphertext into another.
func TestSealedValuesStayInTheirRow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		one := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "ONE", Value: "value of one"})
		testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TWO", Value: "value of two"})
		err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Secret.Update().Where(entsecret.Name("TWO")).SetSealed(one.Sealed).Exec(ctx)
		})
		require.NoError(t, err)
		_, err = secret.Open(ctx, w.Store.Reader(), w.Engine.Sealer, "TWO")
		require.Error(t, err)
		requireAbsent(t, []byte(err.Error()), "value of one")
		requireOpens(t, w, w.A, "ONE", "value of one")

		_, err = secret.Open(ctx, w.Store.Reader(), w.Engine.Sealer, "THREE")
		require.True(t, ent.IsNotFound(err))
		_, err = secret.Open(t.Context(), w.Store.Reader(), w.Engine.Sealer, "ONE")
		require.Error(t, err, "nobody is calling")
	})
}

func TestRotationsAtOnceEachMakeAVersion(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "value 1"})
		const n = 8
		versions := make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				out, _, err := op.Run(ctx, w.Engine, secret.RotateSecret, secret.RotateSecretInput{ByID: op.ByID{ID: s.ID}, Value: secret.Value(fmt.Sprint("value of ", i))}, nil)
				if err == nil {
					versions[i] = out.Version
				}
			})
		}
		wg.Wait()
		last := 0
		for i, v := range versions {
			if v == n+1 {
				last = i
			}
		}
		require.ElementsMatch(t, []int{2, 3, 4, 5, 6, 7, 8, 9}, versions)
		requireOpens(t, w, w.A, "TOKEN", fmt.Sprint("value of ", last))
	})
}

func TestListSorts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		for _, name := range []string{"B", "C", "A"} {
			testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: name, Value: "v"})
			w.Clock.SetOffset(w.Clock.Offset() + time.Second)
		}
		for sort, want := range map[string]string{"": "ACB", "createdAt": "BCA", "-updatedAt": "ACB", "name": "ABC", "-name": "CBA"} {
			list := testkit.Run(t, w, ctx, secret.ListSecrets, secret.ListSecretsInput{Page: paging.Page{Sort: sort}})
			var got strings.Builder
			for _, s := range list.Rows {
				got.WriteString(s.Name)
			}
			require.Equal(t, want, got.String(), sort)
			require.Equal(t, 3, list.Total)
		}
		_, err := secret.ListSecrets.Decode(nil, nil, map[string][]string{"sort": {"version"}})
		require.Equal(t, "sort", apperr.From(err).Details[0].Field)
	})
}
