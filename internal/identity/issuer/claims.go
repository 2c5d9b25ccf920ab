package issuer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// claims holds the claims of a token by name.
type claims map[string]any

func claimsOf(t *oidc.IDToken) (claims, error) {
	var c claims
	if err := t.Claims(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return c, nil
}

// value returns a claim; nil when the token lacks it. A name with dots (realm_access.roles) refers to a member of an object,
// unless a claim has the whole name: some claim names are URLs.
func (c claims) value(name string) any {
	if v, ok := c[name]; ok {
		return v
	}
	head, rest, nested := strings.Cut(name, ".")
	if inner, ok := c[head].(map[string]any); ok && nested {
		return claims(inner).value(rest)
	}
	return nil
}

// text returns a claim with a single value as text; empty when the token lacks it or it holds a list.
func (c claims) text(name string) string {
	s, _ := textOf(c.value(name))
	return s
}

// texts returns the values of a claim as texts, whether the claim is a single value or a list.
func (c claims) texts(name string) []string {
	v := c.value(name)
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, v := range list {
		if s, ok := textOf(v); ok {
			out = append(out, s)
		}
	}
	return out
}

// number returns a claim as an integer; 0 when the token lacks it.
func (c claims) number(name string) int64 {
	switch v := c.value(name).(type) {
	case float64:
		return int64(v)
	case json.Number:
		n, _ := v.Int64()
		return n
	}
	return 0
}

// textOf returns a scalar as text; false for any other value.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}
