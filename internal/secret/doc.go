// Package secret keeps the values that workflows use in outside calls: tokens, signing keys, passwords.
//
// A value goes in through CreateSecret, UpdateSecret and RotateSecret, run by both doors, and is sealed under the
// master key for exactly one row and version:
//
//	associated data = company id / secret id / version
//
// It comes out through Open alone, for the workflow engine. No answer, error, log line or audit entry holds it: a Masker
// hides what a call used in all that the call leaves behind. Hiding encodes the values instead of decoding the text, but
// for escapes, which may be mixed at will: a text is read once for each layer of escapes that it has, and pieces are
// found by a table of eight bytes in a row. On two shared cores, 260 KB of JSON take 15 ms, and a masker of a value of
// 40 bytes 0.05 ms to make, of 64 KiB 0.1 s.
//
// MaskKeys, and a Masker made by WithKeys, hide credentials that people paste and nobody told us of, by what these look like.
// For those, texts are decoded: each run of digits of base64 or hexadecimal once for each alignment, and twice over. 32 KiB of
// requests, of base64 or of what is made to be slow take 1 to 5 ms on the same cores.
package secret
