package apikey

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// String returns the key masked: "key_live_…k3Zp".
func (k Key) String() string {
	if k.value == nil {
		return ""
	}
	return k.Prefix() + "…" + k.Last4()
}

// Format prints the masked key under every verb of fmt, including those that print the fields of structs.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue logs the masked key.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText returns the masked key, for encoders other than JSON.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalJSON returns the masked key as a string.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(k.String()) }
