package signing_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/signing"
)

// A new secret has 32 random bytes, prints as a mask, and is hidden in texts that leave the product.
func TestNew(t *testing.T) {
	t.Parallel()
	v := signing.New()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(v), signing.Prefix))
	require.NoError(t, err)
	require.Len(t, raw, 32)
	require.NotEqual(t, v, signing.New())
	require.Equal(t, "*** *** ***", fmt.Sprintf("%v %+v %#v", v, v, v))
	require.Equal(t, "<***>", secret.NewMasker().WithKeys().Text("<"+string(v)+">"))
}

// The previous secret is valid until the overlap ends, and a sealed secret opens for its own row alone.
func TestOpen(t *testing.T) {
	t.Parallel()
	sealer := testkit.SQLiteWorld(t).Engine.Sealer
	seal := func(v secret.Value) []byte {
		sealed, err := signing.Seal(sealer, v, "whs_1")
		require.NoError(t, err)
		return sealed
	}
	before, after := signing.New(), signing.New()
	until := time.Now()
	open := func(now time.Time) []secret.Value {
		secrets, err := signing.Open(sealer, "whs_1", now, seal(after), seal(before), &until)
		require.NoError(t, err)
		return secrets
	}
	require.Equal(t, []secret.Value{after, before}, open(until.Add(-time.Nanosecond)))
	require.Equal(t, []secret.Value{after}, open(until))
	_, err := signing.Open(sealer, "whs_2", until, seal(after), nil, nil)
	require.Error(t, err)
}
