package policies

import "embed"

// Files holds *.rego, their tests and data.json.
//
//go:embed *.rego data.json
var Files embed.FS
