// Package secret keeps the values that workflows use in outside calls: tokens, signing keys, passwords.
//
// A value goes in through CreateSecret, UpdateSecret and RotateSecret, run by both doors, and is sealed under the
// master key for exactly one row and version:
//
//	associated data = company id / secret id / version
//
// It comes out through Open alone, for the workflow engine. No answer, error, log line or audit entry holds it.
package secret
