package authz

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	wording "atrium/internal/platform/text"
)

// constant reads a JSON value as a value of the kind.
func constant(k kind, v any) (ast.Value, bool) {
	switch v := v.(type) {
	case string:
		switch {
		case utf8.RuneCountInString(v) > maxText, strings.ContainsRune(v, 0):
			return nil, false
		case k == text, k == list:
			return ast.String(v), true
		case k == moment:
			return momentOf(v)
		}
	case bool:
		if k == boolean {
			return ast.Boolean(v), true
		}
	case json.Number:
		if k == number {
			return numberOf(string(v))
		}
	}
	return nil, false
}

var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)$`)

// momentOf reads an RFC 3339 date-time, to the microsecond, which is the databases' precision.
func momentOf(s string) (ast.Value, bool) {
	if !rfc3339.MatchString(s) {
		return nil, false
	}
	t, ok := wording.Moment(s)
	if !ok || t.Year() < 1 || t.Year() > 9999 {
		return nil, false
	}
	return ast.String(t.Format(MomentFormat)), true
}

// numberOf reads a number: 64-bit integers exactly, all others as doubles.
func numberOf(s string) (ast.Value, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return ast.Number(strconv.FormatInt(i, 10)), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, false
	}
	if i := int64(f); f == float64(i) && i > -1<<53 && i < 1<<53 {
		return ast.Number(strconv.FormatInt(i, 10)), true // 1e2 and 3.0 are whole numbers
	}
	return ast.Number(strconv.FormatFloat(f, 'g', -1, 64)), true
}
