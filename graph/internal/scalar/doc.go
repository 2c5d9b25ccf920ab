// Package scalar encodes and decodes the schema's own scalars. gqlgen picks for each the pair of functions with the type of the
// Go value, and its generated code calls them. The package checks only a value's form, never what an operation allows.
package scalar
