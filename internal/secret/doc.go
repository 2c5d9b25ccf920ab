// Package secret stores the values that workflows use in outside calls: tokens, signing keys, passwords.
//
// A value enters through CreateSecret, UpdateSecret and RotateSecret, which REST and GraphQL run. It is encrypted under the
// master key for exactly one row and version:
//
//	associated data = company id / secret id / version
//
// The value before, and up to nine more if they are short, stay sealed in the row (previous), because receivers still send them and
// they still open what was not told of the rotation: they are masked like the present one, and used for nothing else. Those of a deleted
// secret are gone with it, and a rotation keeps none for which the company's 8 MiB of present and earlier values have no room.
//
// A secret names the hosts to which it may be sent (egress.Hosts). Package workflow holds definitions against them, execution each call
// and agent/plans each model's address. To give a secret a value or a host, and to publish a workflow that sends one to where its last
// version did not, takes the right secret.send, which asks people for a recent proof.
//
// Only Open and Use return it; workflow calls and model connections call them. No answer, error, log line or audit entry contains it:
// a Masker hides values in everything that calls and executions leave behind. Masking decodes the text: its escapes, a text is read once
// for each layer of them, and its runs of base64 and hexadecimal digits. Pieces of the values are found by a table of all their sequences
// of eight bytes, which takes about nine bytes of memory for each byte of the values.
//
// Calls and agents mask with all secrets of their company. Short ones, and pieces of those that a call does not name, also stand in
// innocent texts; so of those a call masks whole values of eight and more bytes, and pieces of 32. The opened secrets of the companies that
// used them last are kept (company.go), at most 64 MB of them, and are opened once for all calls that wait for them. A company has at
// most 1,000 secrets of 4 MiB together, which take 33 MB; a call uses at most 64 KiB. To open 60 secrets of 64 KiB takes 0.44 s of two busy
// cores and 54 MB (2026-11). When each call made a mask, held every encoded form in a map and could not be stopped, eight such calls took
// 7 GB.
//
// A Masker made by WithKeys also hides credentials that people paste although they are not stored as secrets. It recognises them
// by their form. For these, runs of base64 and hexadecimal digits are decoded, once for each alignment, and again up to a depth
// of two. 32 KiB of requests, of base64 or of text made to be slow take 1 to 5 ms on the same cores.
package secret
