// Package issuer is the client of OpenID providers: it reads their metadata and keys, verifies the tokens that they sign, and
// finds or creates the user of a token.
//
//	Remote      one provider on the network: metadata, keys, ID tokens. The web application signs people in through one, even
//	            when it is the embedded provider, called in process.
//	Issuer      the provider that the operator configured beside or instead of the embedded one; its access tokens count too.
//	Directory   subject of the issuer → user of a company: linked by a verified address, created when the company allows it,
//	            with the role that the issuer gives.
//
// Callers: authn verifies bearer tokens with an Issuer, websession signs people in. The package never stores a token. It calls
// the issuer only when what it has cached is not enough, and accepts no answer of more than 1 MiB or after more than 5 s. While
// an issuer is unreachable, its cached keys still verify tokens, for up to a day.
package issuer
