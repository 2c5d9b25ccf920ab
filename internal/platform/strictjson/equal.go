package strictjson

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Equal reports whether two JSON texts have the same value, numbers with the same digits. It does not compare the texts: Ent
// escapes <, > and & in what it stores, and PostgreSQL's jsonb orders keys and drops blanks. Two texts that are no JSON are equal
// if their bytes are.
func Equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xerr := decoded(a)
	y, yerr := decoded(b)
	return xerr == nil && yerr == nil && reflect.DeepEqual(x, y)
}

func decoded(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
