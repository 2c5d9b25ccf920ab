package strictjson

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object whose numbers keep their digits: they are decoded as json.Number, however deep they stand, where
// a plain map would make doubles of them, which hold 15 digits.
type Object map[string]any

// UnmarshalJSON reads an object, or null.
func (o *Object) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}
