// Package id makes the public identifiers: a type prefix, an underscore and 26 characters of lower-case
// Crockford base32 over a UUIDv7, so that ids sort by the time they were made ("req_01k9…").
package id
