// Package identity is what the identity provider stands on: its signing keys, the access tokens that they sign, and the
// operations on OAuth clients. The provider itself is package provider beneath it, the pages are packages signin and
// account.
//
// Keys live in the database, their private halves sealed under the master key, so that every node signs and verifies
// with the same ones. A job replaces them without a restart:
//
//	made ──shown in the JWKS, 30 min──▶ signs, 90 days ──▶ verifies until its longest token has ended (a year) ──▶ retired
//
// Tokens are ES256 JWTs whose token_use claim says that they are access tokens: nothing else that the provider signs
// passes as one. The claim grant names what a token was given under; package authn asks whether that still stands.
package identity
