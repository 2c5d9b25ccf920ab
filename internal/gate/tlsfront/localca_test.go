package tlsfront

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

// contents returns the contents of the four files by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := make(map[string]string)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(data)
	}
	require.Len(t, out, 4, "no temporary file is left")
	return out
}

func TestLocalCAFirstStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	now := time.Now()
	caFile, certFile, keyFile, err := LocalCA(dir, []string{"Atrium.Example.org.", "10.1.2.3", "[fd00::1]", "", "0.0.0.0", "localhost"}, now)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}, []string{caFile, certFile, keyFile})
	for name, perm := range map[string]os.FileMode{"ca.key": 0o600, "tls.key": 0o600, "ca.pem": 0o644, "tls.crt": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, perm, info.Mode().Perm(), name)
	}

	ca, err := readCert(caFile)
	require.NoError(t, err)
	require.True(t, ca.IsCA && ca.MaxPathLenZero && ca.MaxPathLen == 0)
	require.WithinDuration(t, now.AddDate(10, 0, 0), ca.NotAfter, time.Second)
	require.Equal(t, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, ca.KeyUsage)
	public, ok := ca.PublicKey.(*ecdsa.PublicKey)
	require.True(t, ok)
	require.Equal(t, elliptic.P256(), public.Curve)

	cert, err := readCert(certFile)
	require.NoError(t, err)
	require.False(t, cert.IsCA)
	require.LessOrEqual(t, cert.NotAfter.Sub(cert.NotBefore), 365*day)
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, cert.ExtKeyUsage)
	require.Equal(t, []string{"localhost", "atrium.example.org"}, cert.DNSNames)
	require.Len(t, cert.IPAddresses, 4)
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "atrium.example.org", "10.1.2.3", "fd00::1"} {
		_, err := cert.Verify(x509.VerifyOptions{DNSName: host, Roots: poolOf(t, caFile), CurrentTime: now})
		require.NoError(t, err, host)
	}
	_, err = tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(t, err)
}

func TestLocalCAReusesAndReissues(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	call := func(at time.Time, hosts ...string) map[string]string {
		t.Helper()
		_, _, _, err := LocalCA(dir, hosts, at)
		require.NoError(t, err)
		return contents(t, dir)
	}
	first := call(now, "a.example", "10.0.0.1")
	require.Equal(t, first, call(now, "a.example", "10.0.0.1"))
	require.Equal(t, first, call(now.Add(300*day), "A.example"), "a name more does no harm")

	reissued := func(before, after map[string]string, why string) {
		t.Helper()
		require.NotEqual(t, before["tls.crt"], after["tls.crt"], why)
		for _, name := range []string{"ca.pem", "ca.key", "tls.key"} {
			require.Equal(t, before[name], after[name], why)
		}
	}
	second := call(now, "b.example")
	reissued(first, second, "lacks a name")
	third := call(now, "b.example", "10.0.0.2")
	reissued(second, third, "lacks an address")
	late := now.Add(certLife - clockSkew - renewBefore + time.Minute)
	fourth := call(late, "b.example")
	reissued(third, fourth, "ends within 30 days")
	reissued(fourth, call(now, "b.example"), "not valid yet: the clock was wrong")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), []byte("rubbish"), 0o644)) // a certificate
	reissued(map[string]string{"ca.pem": first["ca.pem"], "ca.key": first["ca.key"], "tls.key": first["tls.key"], "tls.crt": "rubbish"}, call(now), "damaged")

	require.NoError(t, os.Remove(filepath.Join(dir, "ca.pem")))
	require.NoError(t, os.Remove(filepath.Join(dir, "ca.key")))
	again := call(now)
	require.NotEqual(t, first["ca.pem"], again["ca.pem"], "a new CA on request")
	_, err := CertFiles(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	require.NoError(t, err)
}

// A process killed between two files leaves the first ones of them, and the next start continues from there.
func TestLocalCAAfterCrash(t *testing.T) {
	t.Parallel()
	order := []string{"ca.key", "ca.pem", "tls.key", "tls.crt"}
	for n := range order {
		dir := t.TempDir()
		_, _, _, err := LocalCA(dir, nil, time.Now())
		require.NoError(t, err)
		before := contents(t, dir)
		for _, name := range order[n:] {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
		_, certFile, keyFile, err := LocalCA(dir, nil, time.Now())
		require.NoError(t, err)
		after := contents(t, dir)
		for _, name := range order[:n] {
			require.Equal(t, before[name], after[name])
		}
		_, err = CertFiles(certFile, keyFile)
		require.NoError(t, err)
	}
}

func TestLocalCAConcurrentFirstStarts(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir, now := t.TempDir(), time.Now()
		var starts sync.WaitGroup
		errs := make(chan error, 100)
		for range 8 {
			starts.Go(func() {
				caFile, certFile, keyFile, err := LocalCA(dir, []string{"x.example"}, now)
				if err != nil {
					errs <- err
					return
				}
				// The files that each process goes on to serve match, whichever process wrote them.
				pair, err := tls.LoadX509KeyPair(certFile, keyFile)
				if err != nil {
					errs <- err
					return
				}
				ca, err := readCert(caFile)
				if err != nil {
					errs <- err
					return
				}
				if err := pair.Leaf.CheckSignatureFrom(ca); err != nil {
					errs <- err
				}
			})
		}
		starts.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
		contents(t, dir)
	}
}

func TestLocalCARefuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, host := range []string{"a.example:8443", "http://a.example", "a b", "-a.example", "a..b", "ünïcode.example", "a.*.example"} {
		_, _, _, err := LocalCA(t.TempDir(), []string{host}, now)
		require.ErrorContains(t, err, "neither a host name nor an address", host)
	}

	fresh := func() string {
		dir := t.TempDir()
		_, _, _, err := LocalCA(dir, nil, now)
		require.NoError(t, err)
		return dir
	}
	for name, spoil := range map[string]func(dir string){
		"is missing; bring it back": func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "ca.key"))) },
		"is not the CA of ca.key":   func(dir string) { copyFile(t, filepath.Join(fresh(), "ca.key"), filepath.Join(dir, "ca.key")) },
		"ca.pem holds no certificate": func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), nil, 0o600))
		},
		"tls.key holds no private key": func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), nil, 0o600))
		},
	} {
		dir := fresh()
		spoil(dir)
		caFile, _, _, err := LocalCA(dir, nil, now)
		require.ErrorContains(t, err, name)
		require.Empty(t, caFile)
	}
	_, _, _, err := LocalCA(fresh(), nil, now.AddDate(11, 0, 0))
	require.ErrorContains(t, err, "expired")
}

func TestLocalCATightensKeys(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	require.NoError(t, os.Chmod(p.key, 0o644))
	_, _, _, err := LocalCA(filepath.Dir(p.key), nil, time.Now())
	require.NoError(t, err)
	info, err := os.Stat(p.key)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestRenewLocalCA(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, certFile, _, err := LocalCA(dir, nil, time.Now())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- RenewLocalCA(ctx, dir, nil, time.Now) }()
		time.Sleep(334 * day)
		before, err := readCert(certFile)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), before.NotAfter, 32*day, "not renewed too early")
		time.Sleep(2 * day)
		after, err := readCert(certFile)
		require.NoError(t, err)
		require.True(t, after.NotAfter.After(before.NotAfter.Add(300*day)))
		cancel()
		require.NoError(t, <-done)
	})
}
