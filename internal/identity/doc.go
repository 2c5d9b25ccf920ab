// Package identity is the identity provider: its signing keys and the access tokens that they sign.
//
// Keys live in the database, their private halves sealed under the master key, so that every node signs and verifies
// with the same ones. Tokens are ES256 JWTs whose token_use claim says that they are access tokens: nothing else that
// the provider signs passes as one.
package identity
