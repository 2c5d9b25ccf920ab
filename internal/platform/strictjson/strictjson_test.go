package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/strictjson"
)

func ExampleCheck() {
	fmt.Println(strictjson.Check([]byte(`{"title": "Laptop", "priority": "HIGH"}`)))
	fmt.Println(strictjson.Check([]byte(`{"title": "Laptop", "t\u0069tle": "Phone"}`)))
	// Output:
	// <nil>
	// malformed JSON at byte 20: a key appears twice in one object
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{}`, `[]`, `""`, `0`, `-0`, `true`, `false`, `null`, " \t\r\n{ } \n",
		`{"a": 1, "b": [true, false, null, {"a": 2}], "A": 3}`,
		`[{"a": 1}, {"a": 2}]`,   // the same key in two objects
		`{"a": {"a": {"a": 1}}}`, // and in nested ones
		`{"": 1, " ": 2, "\u0000": 3}`,
		`"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`,
		`"é😀` + "\u2028\ufeff\x7f" + `"`, // a byte-order mark inside a string is a character
		`[0, -1, 1.5, 1e5, 1E+5, 1e-5, 12345678901234567890, 1.7976931348623157e308, 1e-999, 0e999]`,
		strings.Repeat("9", 308),
		strings.Repeat("[", 100) + strings.Repeat("]", 100),
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	} {
		require.NoError(t, strictjson.Check([]byte(body)), body)
		got, err := strictjson.Decode([]byte(body))
		require.NoError(t, err, body)
		var want any
		require.NoError(t, json.Unmarshal([]byte(body), &want), body)
		require.Equal(t, want, got, body)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const (
		empty, syntax     = "the body is empty", "" // syntax: the message is encoding/json's
		twice, mark, utf8 = "a key appears twice in one object", "the body starts with a byte-order mark", "a string is not valid UTF-8"
		surrogate         = "an escape is half of a surrogate pair"
		double, deep      = "a number is beyond the range of a double", "the nesting is deeper than 100 levels"
	)
	for _, c := range []struct {
		body   string
		offset int
		reason string
	}{
		{"", 0, empty}, {" \n", 0, empty},
		{"{", 1, syntax}, {`{"a"`, 4, syntax}, {`{"a":`, 5, syntax}, {`{"a":1`, 6, syntax}, {`{"a":1,`, 7, syntax}, {"[", 1, syntax}, {"[1,", 3, syntax},
		{`"a`, 2, syntax}, {`"\`, 2, syntax}, {`"\u12`, 5, syntax}, {`"\ud83d\u`, 9, syntax}, {"tru", 3, syntax}, {"-", 1, syntax}, {"1.", 2, syntax}, {"1e", 2, syntax}, {"1e+", 3, syntax},
		{"{} {}", 3, syntax}, {"1 2", 2, syntax}, {"01", 1, syntax}, {"{}\x00", 2, syntax}, {"nullx", 4, syntax},
		{"nul!", 3, syntax}, {"True", 0, syntax}, {"NaN", 0, syntax}, {"+1", 0, syntax}, {".5", 0, syntax}, {"[1,]", 3, syntax}, {"'a'", 0, syntax},
		{"/**/1", 0, syntax}, {"[\ufeff1]", 1, syntax}, {"\xff\xfe1", 0, utf8},
		{"-a", 1, syntax}, {"1.e5", 2, syntax}, {"1ex", 2, syntax},
		{"{a:1}", 1, syntax}, {`{"a":1,}`, 7, syntax}, {"{1:2}", 1, syntax}, {`{"a" 1}`, 5, syntax}, {`{"a":1 "b":2}`, 7, syntax}, {"[1 2]", 3, syntax}, {"[1}", 2, syntax},
		{`{"a":1,"a":1}`, 7, twice}, {`{"a":1,"\u0061":2}`, 7, twice}, {`{"\u0061":1,"a":2}`, 12, twice}, {`{"\n":1,"\u000a":2}`, 8, twice},
		{`[{"b":{"a":1,"a":2}}]`, 13, twice}, {`{"a":{"b":1},"c":2,"a":3}`, 19, twice}, {`{"":1,"":2}`, 6, twice}, {`{"😀":1,"\ud83d\ude00":2}`, 10, twice},
		{"\ufeff{}", 0, mark},
		{"\"\xff\"", 1, utf8}, {"\"a\xc3\"", 2, utf8}, {"\"\xed\xa0\x80\"", 1, utf8}, {"\"\xc0\x80\"", 1, utf8}, {"{\"\xff\":1}", 2, utf8},
		{`"\ud83d"`, 1, surrogate}, {`"\ude00"`, 1, surrogate}, {`"\ud83d\n"`, 1, surrogate}, {`"\ud83d\u0041"`, 1, surrogate}, {`"\ud83d\ud83d\ude00"`, 1, surrogate}, {`"\ud83dx"`, 1, surrogate},
		{`"\x41"`, 1, syntax}, {`"\'"`, 1, syntax}, {`"\u00g0"`, 5, syntax}, {`"\u 041"`, 3, syntax},
		{"\"\n\"", 1, syntax}, {"\"\x00\"", 1, syntax},
		{"1e999", 5, double}, {"[-1e309]", 8, double}, {"1.8e308", 7, double}, {strings.Repeat("9", 310), 310, double}, {`{"a":1e400}`, 11, double},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), 100, deep}, {strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), 500, deep}, {strings.Repeat("[", 1<<20), 0, syntax},
	} {
		name := c.body[:min(len(c.body), 60)]
		err := strictjson.Check([]byte(c.body))
		var fault *strictjson.Error
		require.ErrorAs(t, err, &fault, name)
		if c.reason == syntax {
			var v any
			require.EqualError(t, json.Unmarshal([]byte(c.body), &v), fault.Reason, name)
		} else {
			require.Equal(t, c.reason, fault.Reason, name)
			require.Equal(t, c.offset, fault.Offset, name)
		}
		v, again := strictjson.Decode([]byte(c.body))
		require.Equal(t, err, again, name)
		require.Nil(t, v, name)
	}
}

// A repeated key is found among any number of keys, and whatever the values contain.
func TestDuplicateAmongMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 31, 32, 33, 34, 127, 128, 129, 1000, 100_000} {
		body := manyKeys(n)
		require.NoError(t, strictjson.Check(body), n)
		decoded, err := strictjson.Decode(body)
		require.NoError(t, err, n)
		require.Len(t, decoded, n)
		for _, again := range []int{0, n / 2, n - 1} {
			twice := fmt.Appendf(body[:len(body)-1:len(body)-1], `,"k\u00%02x%06d":0}`, 'y', again)
			err := strictjson.Check(twice)
			require.Equal(t, &strictjson.Error{Offset: len(body), Reason: "a key appears twice in one object"}, err, "%d of %d", again, n)
		}
	}
}

// The keys of a nested object do not count for the object around it.
func TestKeysOfNestedObjects(t *testing.T) {
	t.Parallel()
	inner := string(manyKeys(100))
	require.NoError(t, strictjson.Check(fmt.Appendf(nil, `{"\u0061":%s,"b":%s,"c":[%s,%s]}`, inner, inner, inner, inner)))
	require.Error(t, strictjson.Check(fmt.Appendf(nil, `{"\u0061":%s,"b":%s,"\u0061":1}`, inner, inner)))
	require.Error(t, strictjson.Check(fmt.Appendf(nil, `{"x":{"\u0061":%s,"\u0062":%s,"\u0062":1}}`, inner, inner)))
}

// The decoded value shares no memory with the body, so the caller may reuse that.
func TestDecodeCopies(t *testing.T) {
	t.Parallel()
	body := []byte(`{"plain":"abc","escaped\n":"d\u0065f"}`)
	got, err := strictjson.Decode(body)
	require.NoError(t, err)
	clear(body)
	_, err = strictjson.Decode([]byte(`{"other\n":"x\u0065y"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"plain": "abc", "escaped\n": "def"}, got)
}

// manyKeys returns an object with n different keys of 8 characters.
func manyKeys(n int) []byte {
	b := []byte{'{'}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `"ky%06d":0`, i)
	}
	return append(b, '}')
}

// DecodeHalves differs from Decode in one thing: half a surrogate pair stands in the value as it was written.
func TestHalves(t *testing.T) {
	t.Parallel()
	got, err := strictjson.DecodeHalves([]byte(`{"\ud83d": "a \uDE00\ud83d b \ud83d\ude00 \\ud83d \\\ud83d", "\udc00": 1, "n": [1.50]}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{`\ud83d`: `a \uDE00\ud83d b 😀 \ud83d \\ud83d`, `\udc00`: 1.0, "n": []any{1.5}}, got)
	for _, same := range []string{`{"a":"\ud83d\ude00"}`, `"\\ud83d"`, `no JSON \`, `\u12`, `"\u00e9"`, ``} {
		require.Equal(t, same, string(strictjson.KeepHalves([]byte(same))))
	}
	require.Equal(t, `"\\ud83d`, string(strictjson.KeepHalves([]byte(`"\ud83d`))), "what is not valid is as it was otherwise")
	for _, text := range []string{`"\ud83d"`, `"\udc00\ud83d"`, `{"\ud83d":"\ud83dx"}`, `["\ud83d\u0041", "\ud83d"]`} {
		require.ErrorContains(t, strictjson.Check([]byte(text)), "half of a surrogate pair")
		_, err := strictjson.DecodeHalves([]byte(text))
		require.NoError(t, err, text)
	}
	for _, text := range []string{`"\ud83d\ude00"`, `"\\ud83d"`, `"\ud83d`, `{"\ud83d":1,"\ud83d":2}`, `{"a":1,"\u0061":2}`, "\"\xff\"", "1e999"} {
		want, wanted := strictjson.Decode([]byte(text))
		got, err := strictjson.DecodeHalves([]byte(text))
		require.Equal(t, want, got, text)
		require.Equal(t, wanted == nil, err == nil, text)
	}
}
