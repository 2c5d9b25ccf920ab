// Package seal encrypts the secrets that the database keeps: values of secrets, signing secrets of webhooks, TOTP
// seeds. It is envelope encryption with Tink: a data key (AES-256-GCM) encrypts the values, the master key encrypts
// the data key, and only the master key has to be kept somewhere safe.
//
//	master key (file, ATRIUM_MASTER_KEY or KMS) ──wraps──▶ data key (one per process) ──seals──▶ values
//
//	sealed value:  4 bytes length │ wrapped data key │ AES-GCM nonce, ciphertext, tag
//
// The layout is that of Tink's KMS envelope AEAD, so aead.NewKMSEnvelopeAEAD2 and Tink in any other language open
// what is sealed here (a test holds that). One thing differs from it: Tink draws a data key for every message, which
// with a KMS means a network call for every Seal, and ours run inside database transactions. A Sealer draws one when
// it opens and uses it until the process ends; so Seal never leaves the process, Unseal does so once per data key it
// has not met before, nothing but the sealed values has to be stored, and a KMS outage stops only cold starts. A data
// key seals at most 2^32 values, AES-GCM's limit for random nonces; then Seal fails until the next start.
//
// The associated data is not encrypted and not stored, but Unseal must be given the same. Callers pass what the
// value belongs to (company, row, column), so that a value copied into another row does not open there.
//
// # Master keys
//
//   - A file (default DATA/master.key): a Tink keyset in JSON, made by CreateFile with mode 0600, refused when its
//     group or others may read it. It may hold several keys; Rotate adds one and makes it the primary. A running
//     process that meets a newer key reads the file again, so commands and servers need no restart; new values
//     use the new key from the next start. With several machines, copy the file to all of them first.
//   - ATRIUM_MASTER_KEY: 32 random bytes in base64 (openssl rand -base64 32), or several separated by commas, the
//     first being the primary (rotate by putting a new one in front); or a key file in base64 (base64 -w0 master.key).
//   - A KMS, by Tink's URI. The master key never leaves it, and it rotates there: both kinds keep their old versions.
//     hcvault://HOST:PORT/transit/keys/NAME is HashiCorp Vault's transit engine (a key with derived=false): HTTPS to
//     HOST, or VAULT_ADDR when the URI has none; VAULT_TOKEN, VAULT_NAMESPACE, VAULT_CACERT and so on are read.
//     aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID is AWS KMS, with the SDK's usual credentials.
//
// An old key is retired by sealing all values anew (Unseal, Seal) and then removing it. Losing the master key loses
// the values: back the file up apart from the database.
//
// Google's KMS (tink-go-gcpkms) is left out. Measured on the product's dependencies, stripped: Vault adds 16
// modules and 1.3 MB, AWS 16 and 5.0 MB, Google 15 and 5.4 MB; all three together exceed 40 modules and 10 MB. Any
// other registry.KMSClient can be given in Source.Client, from outside this package.
//
// Nothing here prints a key or a value: types print masked, errors name neither. Callers may match ErrCorrupt.
package seal
