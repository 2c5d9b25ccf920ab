package sender

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server that took the mail is believed, nobody else: not a field below its own, and not words that the writer of the mail has brought
// into it by an address or a comment.
func TestResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string // above the mail
		by     string
	}{
		"dmarc":                        {"mx.test; dkim=pass header.d=acme.test; spf=fail smtp.mailfrom=x.test; dmarc=pass (p=NONE) header.from=acme.test", "dmarc"},
		"folded":                       {"mx.test 1;\r\n dmarc=pass\r\n\t(p=reject; sp=none)\r\n header.from=Acme.Test", "dmarc"},
		"spaces around =":              {"mx.test; dkim = pass header.d = acme.test", "dkim"},
		"dkim":                         {"mx.test; dkim=pass header.i=@acme.test header.d=mail.acme.test", "dkim"},
		"spf":                          {"MX.test; spf=pass smtp.mailfrom=ada@acme.test", "spf"},
		"quoted":                       {`mx.test; spf=pass reason="a; b" smtp.mailfrom="ada"@acme.test`, "spf"},
		"dmarc of another":             {"mx.test; dmarc=pass header.from=evil.test", ""},
		"dmarc of nobody":              {"mx.test; dmarc=pass", ""},
		"dmarc denies":                 {"mx.test; dkim=pass header.d=acme.test; dmarc=fail header.from=acme.test", ""},
		"two dmarc":                    {"mx.test; dmarc=pass header.from=acme.test; dmarc=fail header.from=acme.test", ""},
		"dkim fails":                   {"mx.test; dkim=fail header.d=acme.test", ""},
		"dkim of another":              {"mx.test; dkim=pass header.d=evil.test", ""},
		"none":                         {"mx.test; none", ""},
		"another server":               {"mx.evil.test; dmarc=pass header.from=acme.test", ""},
		"another server's above":       {"relay.test; dmarc=fail\r\nAuthentication-Results: mx.test; dmarc=pass header.from=acme.test", ""},
		"in the address":               {`mx.test; spf=pass smtp.mailfrom="x; dmarc=pass header.from=acme.test; y="@evil.test`, ""},
		"in a comment":                 {"mx.test; spf=pass (x; dmarc=pass header.from=acme.test; ) smtp.mailfrom=evil.test", ""},
		"in a comment of a comment":    {"mx.test; spf=pass (x (y) ; dmarc=pass header.from=acme.test) smtp.mailfrom=evil.test", ""},
		"a quotation without an end":   {`mx.test; dmarc=pass header.from=acme.test; spf=pass smtp.mailfrom="x`, ""},
		"a comment without an end":     {"mx.test; dmarc=pass header.from=acme.test (x", ""},
		"a property twice":             {"mx.test; dkim=pass header.d=evil.test header.d=acme.test", ""},
		"a property in quotes":         {`mx.test; dkim=pass "header.d=acme.test"`, ""},
		"another version":              {"mx.test 2; dmarc=pass header.from=acme.test", ""},
		"the domain as a local part":   {"mx.test; spf=pass smtp.mailfrom=acme.test@evil.test", ""},
		"a domain that ends like ours": {"mx.test; dkim=pass header.d=notacme.test", ""},
		"a top-level domain":           {"mx.test; dkim=pass header.d=test", ""},
	} {
		v := Results([]byte("Authentication-Results: "+c.fields+"\r\n"+plain), "ada@acme.test", "mx.test")
		require.Equal(t, c.by, v.By, "%s: %+v", name, v)
		require.Equal(t, c.by != "", v.Aligned, "%s: %+v", name, v)
	}
	pass := "Authentication-Results: mx.test; dmarc=pass header.from=acme.test\r\n"
	require.False(t, Results([]byte(plain), "ada@acme.test", "mx.test").Aligned, "no field")
	require.False(t, Results([]byte(pass+plain), "ada@acme.test", "").Aligned, "no server is configured")
	require.False(t, Results([]byte(pass+"From: eve@evil.test\r\n"+plain), "ada@acme.test", "mx.test").Aligned, "two authors")
	require.False(t, Results([]byte(plain+"\r\n"+pass), "ada@acme.test", "mx.test").Aligned, "in the text")
	require.True(t, Results([]byte("Authentication-Results: mx.test; dmarc=temperror\r\n"+plain), "ada@acme.test", "mx.test").Temporary)
}

// FuzzResults: whatever the field says, only one that names the domain passes.
func FuzzResults(f *testing.F) {
	for _, s := range []string{"mx.test; dmarc=pass header.from=acme.test", `mx.test; spf=pass smtp.mailfrom="a\"b"@x`, "(a(b)c)mx.test;;=;dkim=pass"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, field string) {
		v := Results([]byte("Authentication-Results: "+field+"\r\n"+plain), "ada@acme.test", "mx.test")
		if v.Aligned {
			require.Contains(t, strings.ToLower(field), "acme.test")
		}
		require.LessOrEqual(t, len(v.Reasons), 10)
	})
}
