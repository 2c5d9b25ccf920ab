// Package relay holds Relay's connections, made from the lists of package paging. Package graph and gqlgen's code use it. It
// reads nothing itself.
package relay
