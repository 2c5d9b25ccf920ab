package mail

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/stretchr/testify/require"
)

// keyFile writes a private key as operators have it.
func keyFile(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return pemFile(t, "PRIVATE KEY", der)
}

func pemFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dkim.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return file
}

// What a server receives verifies by the record that the operator publishes, and does no more once something of it was changed.
func TestDKIM(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for name, file := range map[string]string{
		"RSA": keyFile(t, rsaKey), "RSA as openssl once wrote it": pemFile(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "Ed25519": keyFile(t, edKey),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &postOffice{}
			openPostOffice(t, p, false, true)
			s := p.sender(t, "smtp://ada:hun%40ter2@HOST")
			d, err := ReadDKIM(file, "s1", "Atrium <no-reply@X.test>")
			require.NoError(t, err)
			s.dkim = d
			e := letter()
			e.HTML, e.Thread, e.ReplyTo, e.Unsubscribe = "<p>Grüße = 1</p>\n", "req_1", "help+abc@x.test", "https://x.test/u"
			e.Text += ".\n..\n" + strings.Repeat("long ", 100) + " \n\n\n"
			require.NoError(t, s.send(t.Context(), e))
			require.NoError(t, s.send(t.Context(), letter()), "without HTML")
			for _, got := range p.received() {
				require.True(t, verified(t, s.dkim, got), got)
				for _, spoilt := range []string{
					strings.Replace(got, "Subject: ", "Subject: Re: ", 1), "Subject: Another\r\n" + got, "From: eve@evil.test\r\n" + got, "Content-Type: text/html\r\n" + got, got + "more\r\n",
				} {
					require.False(t, verified(t, s.dkim, spoilt))
				}
			}
			require.Contains(t, p.received()[0], "Reply-To: <help+abc@x.test>\r\n")
			require.Contains(t, p.received()[0], "X-Auto-Response-Suppress: All\r\n")
		})
	}
}

// verified reports whether a mail has one signature, and it is valid by the record.
func verified(t *testing.T, d *DKIM, mail string) bool {
	t.Helper()
	signatures, err := dkim.VerifyWithOptions(strings.NewReader(mail), &dkim.VerifyOptions{LookupTXT: func(asked string) ([]string, error) {
		name, text := d.Record()
		require.Equal(t, "s1._domainkey.x.test", name)
		require.Equal(t, name, asked)
		return []string{text}, nil
	}})
	require.NoError(t, err)
	require.Len(t, signatures, 1)
	require.Equal(t, "x.test", signatures[0].Domain)
	return signatures[0].Err == nil
}

// A key that receivers would not accept, or that is none, is refused when the server starts.
func TestDKIMKeys(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, good, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	const from = "Atrium <no-reply@x.test>"
	for name, c := range map[string]struct{ file, selector, from string }{
		"1,024 bits":        {keyFile(t, small), "s1", from},
		"another algorithm": {keyFile(t, curve), "s1", from},
		"no key":            {pemFile(t, "CERTIFICATE", []byte("x")), "s1", from},
		"no PEM":            {"dkim_test.go", "s1", from},
		"no file":           {filepath.Join(t.TempDir(), "none"), "s1", from},
		"no sender":         {keyFile(t, good), "s1", ""},
		"no selector":       {keyFile(t, good), "", from},
		"a bad selector":    {keyFile(t, good), "s1; p=", from},
	} {
		_, err := ReadDKIM(c.file, c.selector, c.from)
		require.Error(t, err, name)
	}
}
