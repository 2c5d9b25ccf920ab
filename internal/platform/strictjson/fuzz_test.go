package strictjson_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/strictjson"
)

// FuzzCheck compares the package with encoding/json. json.Unmarshal also reads what Check accepts, without losing a key, and
// Decode returns the same. What only Check refuses has one of the documented reasons.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{}`, `{"a":1,"b":[true,null,{"c":"d"}]}`, `{"a":1,"\u0061":2}`, `"\ud83d\ude00"`, `"\ud83d"`, `1e999`, `-0.5E+3`, "\ufeff{}", "\"\xff\"",
		`[[[[1]]]]`, `{"a":{"a":{"a":1}},"b":"\u0000"}`, strings.Repeat("[", 101) + strings.Repeat("]", 101), string(manyKeys(40)), `{"id":"svc_1"} {}`,
	} {
		f.Add([]byte(s))
	}
	strictReasons := map[string]bool{
		"a key appears twice in one object": true, "a string is not valid UTF-8": true,
		"an escape is half of a surrogate pair": true, "the nesting is deeper than 100 levels": true,
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checked := strictjson.Check(body)
		decoded, err := strictjson.Decode(body)
		require.Equal(t, checked, err)

		var want any
		stdlib := json.Unmarshal(body, &want)
		if checked == nil {
			require.NoError(t, stdlib)
			require.True(t, utf8.Valid(body))
			require.Equal(t, want, decoded)
			require.Equal(t, tokenKeys(t, body), mapKeys(want))
			return
		}
		var fault *strictjson.Error
		require.ErrorAs(t, checked, &fault)
		require.True(t, 0 <= fault.Offset && fault.Offset <= len(body))
		if stdlib == nil {
			require.True(t, strictReasons[fault.Reason], fault.Reason)
		}
	})
}

// tokenKeys counts the keys as they are written in body.
func tokenKeys(t *testing.T, body []byte) (n int) {
	type level struct{ object, key bool } // key: the next token is a key
	var open []level
	for d := json.NewDecoder(strings.NewReader(string(body))); ; {
		token, err := d.Token()
		if err == io.EOF {
			return n
		}
		require.NoError(t, err)
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 && open[len(open)-1].object {
			top := &open[len(open)-1]
			if top.key {
				n++
			}
			top.key = !top.key
		}
		if delim, ok := token.(json.Delim); ok {
			open = append(open, level{object: delim == '{', key: delim == '{'})
		}
	}
}

// mapKeys counts the keys that json.Unmarshal kept.
func mapKeys(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, x := range v {
			n += mapKeys(x)
		}
	case []any:
		for _, x := range v {
			n += mapKeys(x)
		}
	}
	return n
}
