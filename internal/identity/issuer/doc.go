// Package issuer is what Atrium knows of other OpenID providers: it reads their metadata and keys, verifies the tokens
// that they sign, and finds or makes the user that a token names.
//
//	Remote      one provider on the network: metadata, keys, ID tokens. The web session signs in through one, and be it
//	            the embedded provider, called in process.
//	Issuer      the provider that the operator configured beside or instead of the embedded one: its access tokens too.
//	Directory   subject of the issuer → user of a company: linked by a verified address, made when the company wants it,
//	            its role kept as the issuer says.
//
// Callers: authn verifies bearer tokens with an Issuer, websession signs people in. The package never keeps a token, never
// asks the issuer for anything while it knows enough, and never takes an answer of more than 1 MiB or later than 5 s. An
// issuer that is down, at the start or later, stops nothing that its known keys can verify.
package issuer
