package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

const maxDepthJSON = 100

// object is a JSON object that preserves the order of its keys, so that rows come in that order.
type object struct {
	keys   []string
	values map[string]any
}

// MarshalJSON writes the keys in their order, for parts that another package reads.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decodeTree reads one JSON value: *object, []any, string, json.Number, bool or nil. Errors are a duplicate key in
// one object, invalid UTF-8, nesting over 100, a number beyond a double and anything after the value. Their texts
// may be shown to the caller.
func decodeTree(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows after the value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepthJSON {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepthJSON)
	}
	token, err := d.Token()
	if err != nil {
		return nil, malformed(err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return readObject(d, depth)
		}
		return readList(d, depth)
	case json.Number:
		if f, err := t.Float64(); err != nil || math.IsInf(f, 0) {
			return nil, errors.New("a number is too large")
		}
		return t, nil
	default:
		return t, nil
	}
}

func readObject(d *json.Decoder, depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, malformed(err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("malformed JSON")
		}
		if _, twice := o.values[key]; twice {
			return nil, fmt.Errorf("the key %s stands twice in one object", quote(key))
		}
		value, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
		o.values[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, malformed(err)
	}
	return o, nil
}

func readList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		value, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, malformed(err)
	}
	return list, nil
}

// malformed keeps the position of a syntax error and drops its text, which quotes the input.
func malformed(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return errors.New("malformed JSON at byte " + strconv.FormatInt(syntax.Offset, 10))
	}
	return errors.New("malformed JSON")
}

// kindOf names the JSON type of a decoded value.
func kindOf(v any) string {
	switch v.(type) {
	case *object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	default:
		return "null"
	}
}
