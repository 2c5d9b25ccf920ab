// Package apikey is the format of API keys, and nothing else: no database, no permissions, no clock.
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
// internal/authn parses the header x-api-key; the operations that create and rotate keys call New, store Hash, Prefix
// and Last4, and show Value once. A Key prints masked wherever it ends up: only Value gives it away.
package apikey
