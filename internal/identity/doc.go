// Package identity is the basis of the identity provider: its signing keys, the access tokens that they sign, and the
// operations on OAuth clients, with the rules for redirect URIs and for the origins that derive from them. Its
// subpackages:
//
//	provider   the OpenID provider: authorization requests, tokens, logout
//	signin     the pages where people sign in, and where they look after their second factors
//	mfa        second factors and what is proven by them: apps, recovery codes, text messages
//	account    the pages of an account besides: invitations, passwords, e-mail addresses, sign-up
//	pages      the layout of both, and the guard of their forms
//	throttle   the limits of attempts, by account, browser and address
//	password   hashing, and which passwords may be chosen
//	issuer     another issuer's tokens and people
//	authn      credentials become principals
//	apikey     API keys
//	websession sessions of the web application
//	access     ends access: sessions, grants, tokens
//
// Keys are stored in the database, with their private halves sealed under the master key, so that every node signs and
// verifies with the same keys. A job replaces them without a restart:
//
//	made ──shown in the JWKS, 30 min──▶ signs, 90 days ──▶ verifies until its longest token has ended (a year) ──▶ retired
//
// Tokens are ES256 JWTs whose token_use claim marks them as access tokens: nothing else that the provider signs passes as
// one. The claim grant names the grant of a token; package authn checks that the grant was not revoked.
package identity
