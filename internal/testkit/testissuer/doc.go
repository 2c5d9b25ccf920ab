// Package testissuer is a small OpenID provider for tests: it signs whatever a test wants, serves metadata, keys, tokens
// and userinfo over TLS, counts who asks, and can be stopped and started. Its authorization endpoint asks nobody anything:
// a test says who is signed in.
package testissuer
