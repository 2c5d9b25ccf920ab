// Package reply makes the addresses that answers to our mails go to: name+token@domain. The token is a MAC over the company, the request
// and the person, so whoever writes to the address holds a mail that was sent to that person about that request. It proves nothing about
// who writes: a mail may have been passed on, so the From is checked besides.
//
// The token is 20 characters, 100 bits of HMAC-SHA-256 in base32, lower case: it survives programs that fold the case, and cannot be found
// by trying. It names nothing: Matches compares it with those of a request and a person, of which there are two: an answer to the one of
// NoteToken is a note for staff. It stays the same for ever; a new key ends all addresses at once.
package reply
