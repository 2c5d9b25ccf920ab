package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"atrium/internal/platform/apperr"
)

// maxValue bounds a value, in bytes of UTF-8.
const maxValue = 64 << 10

// masked is printed in place of a value.
const masked = "***"

// Value is a secret in the clear, as input or on its way to the one answer that shows it. fmt, slog and encoding/json print a
// mask. Only a conversion to string returns the value.
type Value string

// String returns the mask.
func (Value) String() string { return masked }

// Format writes the mask, whatever the verb.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) }

// LogValue returns the mask.
func (Value) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalJSON writes the mask. This applies also when an input is validated against its schema, so check validates the value.
func (Value) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// check returns validation_error unless the value has 1 to 65,536 bytes and no NUL.
func (v Value) check() error {
	switch {
	case v == "":
		return apperr.InvalidField("value", "must have at least 1 character")
	case len(v) > maxValue:
		return apperr.InvalidField("value", "must have at most %d bytes", maxValue)
	case strings.ContainsRune(string(v), 0):
		return apperr.InvalidField("value", "must not contain the NUL character")
	}
	return nil
}
