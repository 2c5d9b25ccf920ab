// Package id makes public identifiers: a type prefix, an underscore and 26 characters of lower-case Crockford base32, which
// encode a UUIDv7. So ids of one prefix sort by the time at which they were made ("req_01k9…"). The package never looks up
// whether an id exists.
package id
