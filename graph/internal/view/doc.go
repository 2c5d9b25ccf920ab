// Package view holds the schema's objects that correspond to no single Ent entity or result of an operation. Package graph fills
// them. It reads nothing itself.
package view
