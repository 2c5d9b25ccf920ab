// Package secret stores the values that workflows use in outside calls: tokens, signing keys, passwords.
//
// A value enters through CreateSecret, UpdateSecret and RotateSecret, which REST and GraphQL run. It is encrypted under the
// master key for exactly one row and version:
//
//	associated data = company id / secret id / version
//
// Only Open returns it; workflow calls and model connections call Open. No answer, error, log line or audit entry contains it:
// a Masker hides the values that a call used in everything that the call leaves behind. Masking encodes the values and searches
// for the encoded forms. It decodes only escapes in the text, because these may be mixed freely: a text is read once for each
// layer of escapes, and pieces of a value are found by a table of all its sequences of eight bytes. On two shared cores, 260 KB
// of JSON take 15 ms; creating a masker takes 0.05 ms for a value of 40 bytes and 0.1 s for 64 KiB.
//
// A Masker made by WithKeys also hides credentials that people paste although they are not stored as secrets. It recognises them
// by their form. For these, runs of base64 and hexadecimal digits are decoded, once for each alignment, and again up to a depth
// of two. 32 KiB of requests, of base64 or of text made to be slow take 1 to 5 ms on the same cores.
package secret
