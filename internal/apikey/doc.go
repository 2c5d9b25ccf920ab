// Package apikey is API keys: their format, and the operations that list, read, create, rotate and revoke them. Package authn
// recognises the callers who send one.
//
//	(create) → active → revoked    by revoke and rotate, at once and for good; rotate makes another key with the same rights
//	              └──→ expired     at expiresAt
//
// The operations take a person, never a key: a key can never make a key. A key acts with the rights of its person or service
// account, cut down to its scopes; a test key reaches the company's sandbox alone. A value is shown once, in the answer that
// issues it.
//
//	key_live_  0jW…43 base62 digits…  k3Zp9Q
//	└ prefix   └ 32 random bytes      └ CRC-32 (IEEE) of everything before it, 6 base62 digits
//
// A key is always Length characters, so that secret scanners find leaked ones with one regular expression
// (key_(live|test)_[0-9A-Za-z]{49}) and tell them from look-alikes by the checksum. The checksum is no secret and no
// authentication: Parse only keeps mistyped and made-up keys away from the database. Who a key belongs to is decided
// by looking up Hash under a unique index. A fast hash suffices because 256 random bits cannot be guessed; a slow
// one, as for passwords, would only slow down every call.
//
// Issue stores Hash, Prefix and Last4. A Key prints masked wherever it ends up: only Value gives it away.
package apikey
