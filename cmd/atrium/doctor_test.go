package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Doctor checks the certificate that serve uses by the same flags, and reports it two weeks before its end. A local certificate that
// is not served does not matter.
func TestDoctorOfCertificates(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	require.Zero(t, p.serve("--no-demo").stop())
	soon := certificate(t, "atrium.example", 13*24*time.Hour)
	late := certificate(t, "atrium.example", 15*24*time.Hour)
	doctor := func(file string, args ...string) string {
		if file != "" {
			args = append(args, "--tls-cert", file, "--tls-key", file)
		}
		return p.run(append([]string{"doctor"}, args...)...).stdout
	}
	require.Regexp(t, `(?m)^ok   local certificate`, doctor(""))
	require.Regexp(t, `(?m)^BAD  certificate is valid: it ends on .*: renew it$`, doctor(soon))
	require.Regexp(t, `(?m)^ok   certificate is valid$`, doctor(late))
	require.Regexp(t, `(?m)^BAD  certificate is valid`, doctor(filepath.Join(p.data, "none")))

	require.NoError(t, os.Remove(filepath.Join(p.data, "ca.pem")))
	require.Regexp(t, `(?m)^BAD  local certificate`, doctor(""))
	require.NotContains(t, doctor(late), "local certificate")

	acme := filepath.Join(p.data, "acme")
	require.NoError(t, os.Mkdir(acme, 0o700))
	names := []string{"--acme-domain", "atrium.example,other.example,new.example"}
	require.NotContains(t, doctor("", names...), "certificate")
	require.NoError(t, os.Rename(soon, filepath.Join(acme, "atrium.example")))
	require.NoError(t, os.Rename(late, filepath.Join(acme, "other.example")))
	said := doctor("", names...)
	require.Regexp(t, `(?m)^BAD  certificate of atrium.example by ACME is valid: it ends on`, said)
	require.Regexp(t, `(?m)^BAD  certificate of other.example by ACME is valid: .*not other.example`, said)
}

// Secrets from before there were lists of hosts are named by company, and are no failure.
func TestDoctorNamesSecretsWithoutHosts(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first, c := n.firstRun(), n.client()
		for _, name := range []string{"NEW", "OLD_B", "OLD_A"} {
			n.call(c, 201, "POST", "/v1/secrets", first.LiveKey, `{"name":"`+name+`","value":"v","allowedHosts":["*"]}`)
		}
		require.NotContains(t, p.object("doctor", "--json"), "notes")
		change(t, p, "UPDATE secrets SET allowed_hosts = NULL WHERE name LIKE 'OLD%'")
		note := "secrets of " + first.Company.ID + " have no list of hosts and may be sent anywhere: OLD_A, OLD_B"
		require.Equal(t, []any{note}, p.object("doctor", "--json")["notes"])
		require.Contains(t, p.ok("doctor"), "note "+note+"\n")
		require.Zero(t, n.stop())
	})
}

// certificate writes a key and a certificate of that name and validity into one file.
func certificate(t *testing.T, name string, valid time.Duration) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "certificate.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}
