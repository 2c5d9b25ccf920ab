// Package policies embeds the Rego modules and the roles' data that package authz evaluates.
package policies

import "embed"

// Files holds *.rego, their tests and data.json.
//
//go:embed *.rego data.json
var Files embed.FS
