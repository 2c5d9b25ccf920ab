// Package apikey is API keys: their format, and the operations that list, read, create, rotate and revoke them. Package authn
// authenticates the callers that send one.
//
//	(create) → active → revoked    by revoke and rotate, at once and for good; rotate makes another key with the same rights
//	              └──→ expired     at expiresAt
//
// The operations require a person: a key can never make a key. A key acts with the rights of its person or service account,
// limited to its scopes; a test key reaches only the company's sandbox. A value is shown once, in the answer that issues it.
//
//	key_live_  0jW…43 base62 digits…  k3Zp9Q
//	└ prefix   └ 32 random bytes      └ CRC-32 (IEEE) of everything before it, 6 base62 digits
//
// A key is always Length characters, so that secret scanners find leaked ones with one regular expression
// (key_(live|test)_[0-9A-Za-z]{49}) and tell them from look-alikes by the checksum. The checksum is no secret and no
// authentication: Parse only keeps mistyped and invented keys away from the database. The owner of a key is found by looking up
// Hash under a unique index. A fast hash suffices because 256 random bits cannot be guessed; a slow one, as for passwords, would
// only slow down every call.
//
// Issue stores Hash, Prefix and Last4. A Key always prints masked; only Value returns the key itself.
package apikey
