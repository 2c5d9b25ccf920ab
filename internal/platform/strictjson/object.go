package strictjson

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object whose numbers keep their digits: at any depth they are decoded as json.Number. A plain map would hold
// them as doubles, which keep 15 digits.
type Object map[string]any

// UnmarshalJSON reads an object, or null.
func (o *Object) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}
