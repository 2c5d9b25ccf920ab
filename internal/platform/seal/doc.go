// Package seal encrypts secrets that the database stores: values of secrets, signing secrets of webhooks, TOTP seeds and
// others. It is envelope encryption with Tink: a data key (AES-256-GCM) encrypts the values, and the master key encrypts the
// data key. Only the master key has to be stored somewhere safe.
//
//	master key (file, ATRIUM_MASTER_KEY or KMS) ──wraps──▶ data key (one per process) ──seals──▶ values
//
//	sealed value:  4 bytes length │ wrapped data key │ AES-GCM nonce, ciphertext, tag
//
// The layout is that of Tink's KMS envelope AEAD, so aead.NewKMSEnvelopeAEAD2 and Tink in other languages can decrypt the
// values (a test checks this). One thing differs: Tink generates a data key for every message, which with a KMS means a network
// call for every Seal, and our calls run inside database transactions. A Sealer generates one data key when it opens, and uses
// it until the process ends. So Seal never calls the network, Unseal calls it once for each data key that is new to the
// process, only the sealed values have to be stored, and an outage of the KMS affects only starts and new data keys. A data key
// seals at most 2^32 values, AES-GCM's limit for random nonces; then Seal fails until the next start.
//
// The associated data is neither encrypted nor stored, but Unseal needs the same data. Callers pass what the value belongs to
// (company, row, column), so a value that is copied into another row cannot be decrypted there.
//
// # Master keys
//
//   - A file (default DATA/master.key): a Tink keyset in JSON, created by CreateFile with mode 0600, and refused when group or
//     others may read it. It may hold several keys; Rotate adds one and makes it the primary (atrium master-key rotate). A running
//     process that finds a value with a newer key reads the file again, so no restart is needed to open it. New values use the
//     new key from the next start. With several machines, copy the file to all of them first.
//   - ATRIUM_MASTER_KEY: 32 random bytes in base64 (openssl rand -base64 32), or several such keys separated by commas, the
//     primary first (rotate by putting a new one in front); or a key file in base64 (base64 -w0 master.key).
//   - A KMS, by Tink's URI. The master key never leaves the KMS and is rotated there: both kinds keep old versions.
//     hcvault://HOST:PORT/transit/keys/NAME is HashiCorp Vault's transit engine (a key with derived=false), by HTTPS at HOST,
//     or at VAULT_ADDR when the URI has no host; VAULT_TOKEN, VAULT_NAMESPACE, VAULT_CACERT and so on apply.
//     aws-kms://arn:aws:kms:REGION:ACCOUNT:key/ID is AWS KMS, with the usual credentials of its SDK.
//
// To retire an old key, seal all values again (Unseal, Seal) and then remove it. Losing the master key means losing the values:
// back the file up apart from the database.
//
// Google's KMS (tink-go-gcpkms) is left out. Measured on the product's dependencies, stripped: Vault adds 16 modules and 1.3
// MB, AWS 16 and 5.0 MB, Google 15 and 5.4 MB; all three together exceed 40 modules and 10 MB. Source.Connect accepts any other
// registry.KMSClient from outside this package; package kms has Vault's and AWS's.
//
// The package never prints a key or a value: its types print a mask, and its errors contain neither. Callers may compare errors
// with ErrCorrupt.
package seal
