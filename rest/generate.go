package rest

//go:generate go run ./internal/generate
