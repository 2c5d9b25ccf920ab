package definition

import (
	_ "embed"
	"encoding/json"
)

//go:embed schema.json
var schema json.RawMessage

// Schema returns the JSON Schema (2020-12) of the definition format, for editors and generators. It says less than Parse,
// which checks graphs and expressions as well, and never refuses what Parse accepts.
func Schema() json.RawMessage { return schema }
