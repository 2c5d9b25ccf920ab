package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/notify/inmail/reply"
)

var key = []byte("a key of thirty-two bytes, for all")

// An address is recognised again, whatever a program did to its case.
func TestAddress(t *testing.T) {
	t.Parallel()
	token := reply.Token(key, "cmp_1", "req_1", "usr_1")
	require.Regexp(t, "^[a-z2-7]{20}$", token)
	address, err := reply.Address("help@desk.test", token)
	require.NoError(t, err)
	require.Equal(t, "help+"+token+"@desk.test", address)
	for _, written := range []string{address, strings.ToUpper(address), " " + address + " "} {
		mailbox, got, ok := reply.Parse(written)
		require.True(t, ok, written)
		require.Equal(t, "help@desk.test", mailbox)
		note, ours := reply.Matches(got, key, "cmp_1", "req_1", "usr_1")
		require.Equal(t, []bool{false, true}, []bool{note, ours})
	}
}

// Each part makes another token, also where the letters of two parts are the same together.
func TestTokensDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, parts := range [][4]string{
		{"key", "cmp_1", "req_1", "usr_1"}, {"other", "cmp_1", "req_1", "usr_1"}, {"key", "cmp_2", "req_1", "usr_1"}, {"key", "cmp_1", "req_2", "usr_1"},
		{"key", "cmp_1", "req_1", "usr_2"}, {"key", "cmp_1req_1", "", "usr_1"}, {"key", "cmp_1", "req_1usr_1", ""}, {"key", "", "cmp_1req_1", "usr_1"},
	} {
		token := reply.Token([]byte(parts[0]), parts[1], parts[2], parts[3])
		require.Empty(t, seen[token], "%v has the token of %s", parts, seen[token])
		seen[token] = fmt.Sprint(parts)
		require.Equal(t, token, reply.Token([]byte(parts[0]), parts[1], parts[2], parts[3]), "it stays the same")
		_, ours := reply.Matches(token[:19], []byte(parts[0]), parts[1], parts[2], parts[3])
		require.False(t, ours)
	}
}

// The token of a mail whose answer is a note says so, and is another one.
func TestNotes(t *testing.T) {
	t.Parallel()
	token := reply.NoteToken(key, "cmp_1", "req_1", "usr_1")
	require.Regexp(t, "^[a-z2-7]{20}$", token)
	require.NotEqual(t, reply.Token(key, "cmp_1", "req_1", "usr_1"), token)
	note, ours := reply.Matches(token, key, "cmp_1", "req_1", "usr_1")
	require.Equal(t, []bool{true, true}, []bool{note, ours})
	note, ours = reply.Matches(token, key, "cmp_1", "req_1", "usr_2")
	require.Equal(t, []bool{false, false}, []bool{note, ours})
}

// A tag that somebody uses himself is no token, and belongs to the address.
func TestNoToken(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"help@desk.test", "help+laptop@desk.test", "help+@desk.test", "+aaaaaaaaaaaaaaaaaaaa@desk.test",
		"help+aaaaaaaaaaaaaaaaaaa1@desk.test",
		"help+aaaaaaaaaaaaaaaaaaaaa@desk.test", "help+aaaaaaaaaa+aaaaaaaaa@desk.test", "help", "",
	} {
		mailbox, token, ok := reply.Parse(address)
		require.False(t, ok, address)
		require.Empty(t, token)
		require.Equal(t, address, mailbox)
	}
}

// A mailbox that leaves no room for a token, or is none, has no such addresses.
func TestRefused(t *testing.T) {
	t.Parallel()
	token := reply.Token(key, "a", "b", "c")
	longest, err := reply.Address(strings.Repeat("a", 43)+"@desk.test", token)
	require.NoError(t, err)
	local, _, _ := strings.Cut(longest, "@")
	require.Len(t, local, 64)
	for _, mailbox := range []string{strings.Repeat("a", 44) + "@desk.test", "help", "@desk.test", "help@", "help+it@desk.test", `"a b"@desk.test`} {
		_, err := reply.Address(mailbox, token)
		require.Error(t, err, mailbox)
	}
}

// FuzzParse: what is recognised makes the same address again.
func FuzzParse(f *testing.F) {
	f.Add("help+aaaaaaaaaaaaaaaaaaaa@desk.test")
	f.Add("a@b@c+d")
	f.Fuzz(func(t *testing.T, address string) {
		mailbox, token, ok := reply.Parse(address)
		if !ok || strings.Count(mailbox, "@") != 1 || strings.ContainsAny(mailbox, `"`) || strings.HasSuffix(mailbox, "@") || len(mailbox) > 40 {
			return
		}
		again, err := reply.Address(mailbox, token)
		require.NoError(t, err)
		require.Equal(t, strings.ToLower(strings.TrimSpace(address)), again)
	})
}
