// Package ent is the generated data layer; the entities are declared in ent/schema.
package ent

//go:generate go run -mod=mod ./entc
