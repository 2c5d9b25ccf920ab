package definition

import (
	_ "embed"
	"encoding/json"
)

//go:embed schema.json
var schema json.RawMessage

// Schema returns the JSON Schema (2020-12) of the definition format, for editors and generators. It is less strict than
// Parse, which also checks graphs and expressions, and never refuses a definition that Parse accepts.
func Schema() json.RawMessage { return schema }
