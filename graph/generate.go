package graph

//go:generate go run ./internal/generate
