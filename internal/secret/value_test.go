package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

const plain = "s3cr3t-plaintext"

// TestValueNeverPrintsItself prints an input in every way that a log line or an error could.
func TestValueNeverPrintsItself(t *testing.T) {
	t.Parallel()
	in := CreateSecretInput{Name: "TOKEN", Value: plain}
	patch := UpdateSecretInput{Value: op.SetTo[Value](plain)}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("msg", "value", in.Value, "pointer", &in.Value, "in", in, "patch", patch)
	}
	body, err := json.Marshal([]any{in, patch, in.Value})
	require.NoError(t, err)
	printed := log.String() + string(body) +
		fmt.Sprint(in, &in, patch, in.Value) +
		fmt.Sprintf("%v %+v %#v %s %q %x %X %d", in, in, in, in.Value, in.Value, in.Value, in.Value, in.Value) +
		errors.Join(fmt.Errorf("faulty %v", in)).Error()
	require.NotContains(t, printed, plain)
	require.NotContains(t, strings.ToLower(printed), fmt.Sprintf("%x", plain))
	require.Contains(t, printed, masked)
}

func TestValueIsReadFromJSON(t *testing.T) {
	t.Parallel()
	var in UpdateSecretInput
	require.NoError(t, json.Unmarshal([]byte(`{"value":"a\u0041é"}`), &in))
	v, ok := op.Given(in.Value)
	require.True(t, ok)
	require.Equal(t, "aAé", string(v))
}

// TestValueBounds counts bytes, not characters.
func TestValueBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		v    Value
		ok   bool
	}{
		{"one byte", "x", true},
		{"64 KiB", Value(strings.Repeat("x", 65536)), true},
		{"64 KiB in two-byte characters", Value(strings.Repeat("é", 32768)), true},
		{"empty", "", false},
		{"a byte more", Value(strings.Repeat("x", 65537)), false},
		{"too many bytes, few enough characters", Value(strings.Repeat("é", 32769)), false},
		{"NUL", "a\x00b", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.v.check()
			if tc.ok {
				require.NoError(t, err)
				return
			}
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
			require.Equal(t, "value", apperr.From(err).Details[0].Field)
		})
	}
}

func TestDecodeRefusesWithoutEcho(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"allowedHosts":["*"],"name":"lower","value":"` + plain + `"}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":["` + plain + `"]}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":{"v":"` + plain + `"}}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":""}`,
		`{"allowedHosts":["*"],"name":"TOKEN"}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":null}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":"` + plain + strings.Repeat("x", 65536) + `"}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":"` + plain + `","extra":"` + plain + `"}`,
		`{"allowedHosts":["*"],"name":"TOKEN","value":"` + plain,
	} {
		_, err := CreateSecret.Decode([]byte(body), nil, nil)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err), body)
		require.NotContains(t, fmt.Sprint(apperr.From(err).Details), plain)
	}
}
