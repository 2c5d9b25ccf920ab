// Package testissuer is a small OpenID provider for tests. It signs any token that a test wants, serves metadata, keys, tokens
// and userinfo over TLS, counts its calls, and can be stopped and restarted. Its authorization endpoint does not interact with
// anybody: the test sets who is signed in. Tests call it; production code never does.
package testissuer
