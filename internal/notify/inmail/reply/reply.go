package reply

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
)

const (
	tokenLength = 20 // characters of 5 bits
	maxLocal    = 64 // bytes of a local part (RFC 5321)
)

var alphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// Token returns the token of what somebody may answer. The key has 32 bytes and serves nothing else.
func Token(key []byte, company, request, person string) string {
	return token(key, "reply address", company, request, person)
}

// NoteToken returns the token of a mail that tells what not everybody may read who reads the request: an answer to it is a note for staff.
func NoteToken(key []byte, company, request, person string) string {
	return token(key, "note address", company, request, person)
}

// Matches reports whether a token is one of a request and a person, and whether it is that of NoteToken.
func Matches(of string, key []byte, company, request, person string) (note, ok bool) {
	note = equal(of, NoteToken(key, company, request, person))
	return note, note || equal(of, Token(key, company, request, person))
}

func token(key []byte, parts ...string) string {
	mac := hmac.New(sha256.New, key)
	for _, s := range parts {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(s))) // so that no two lists are the same bytes; a hash takes all
		mac.Write([]byte(s))
	}
	return strings.ToLower(alphabet.EncodeToString(mac.Sum(nil))[:tokenLength])
}

// equal compares two tokens in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Address returns the address of a mailbox with the token. Returns an error if the mailbox is no address, has a + already or a local part
// too long for a token (more than 43 bytes).
func Address(mailbox, token string) (string, error) {
	local, domain, ok := strings.Cut(mailbox, "@")
	switch {
	case !ok || local == "" || domain == "" || strings.ContainsAny(local, `+"`):
		return "", errors.New("reply: the mailbox is no address that takes a token")
	case len(local)+1+len(token) > maxLocal:
		return "", errors.New("reply: the mailbox's name is too long for a token")
	}
	return local + "+" + token + "@" + domain, nil
}

// Parse returns the mailbox, lower case, and the token of an address. ok is false for an address without a token, whose mailbox is the
// address itself. Whether the token is one of ours is for Matches to say.
func Parse(address string) (mailbox, token string, ok bool) {
	address = strings.ToLower(strings.TrimSpace(address))
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address, "", false
	}
	local, domain := address[:at], address[at:]
	name, token, found := strings.Cut(local, "+")
	if !found || name == "" || len(token) != tokenLength || strings.Trim(token, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return address, "", false
	}
	return name + domain, token, true
}
