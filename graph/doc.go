// Package graph is the GraphQL door.
package graph
