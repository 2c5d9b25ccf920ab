package tlsfront

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

const (
	caYears      = 10
	certLife     = 365 * 24 * time.Hour // counted from one hour ago, see clockSkew
	renewBefore  = 30 * 24 * time.Hour
	clockSkew    = time.Hour // new certificates are valid from one hour ago, for clients whose clock is behind
	renewalCheck = 12 * time.Hour
)

// LocalCA makes sure that dir contains a CA (ca.pem, ca.key) and a server certificate from it (tls.crt, tls.key) for localhost,
// 127.0.0.1, ::1 and hosts (names or addresses; empty and unspecified ones are skipped). It returns the paths of ca.pem,
// tls.crt and tls.key. Clients trust ca.pem, so a CA is never replaced. The server certificate is issued again when it expires
// within 30 days, lacks a host or is not from this CA. Keys are ECDSA P-256, and only their owner can read them. now is the
// machine's time, not the product's, because clients check certificates against the real time.
//
// Any number of processes may call it at once, and it may be killed at any point: each file is written atomically, the first
// writer of a file wins, and each file depends only on those before it (ca.key, ca.pem, tls.key, tls.crt).
//
// Returns an error when a host is malformed, the folder cannot be written, a file is damaged, or the CA has expired or does not
// match its key. The message names the file.
func LocalCA(dir string, hosts []string, now time.Time) (caFile, certFile, keyFile string, err error) {
	caFile, certFile, keyFile = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	defer func() {
		if err != nil {
			caFile, certFile, keyFile, err = "", "", "", fmt.Errorf("tlsfront: local CA: %w", err)
		}
	}()
	names, err := namesOf(hosts)
	if err != nil {
		return caFile, certFile, keyFile, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return caFile, certFile, keyFile, err
	}
	caKeyFile := filepath.Join(dir, "ca.key")
	_, noCA := os.Stat(caFile) // checked before the key, because the key is always created first
	if _, noKey := os.Stat(caKeyFile); noCA == nil && errors.Is(noKey, os.ErrNotExist) {
		err = fmt.Errorf("%s is missing; bring it back, or remove %s to start with a new CA", caKeyFile, caFile)
		return caFile, certFile, keyFile, err
	}
	caKey, err := ensureKey(caKeyFile)
	if err != nil {
		return caFile, certFile, keyFile, err
	}
	ca, err := ensureCA(caFile, caKey, now)
	if err != nil {
		return caFile, certFile, keyFile, err
	}
	key, err := ensureKey(keyFile)
	if err != nil {
		return caFile, certFile, keyFile, err
	}
	err = ensureCert(certFile, key, ca, caKey, names, now)
	return caFile, certFile, keyFile, err
}

// RenewLocalCA calls LocalCA every 12 hours until ctx ends, so that a long-running server renews its certificate; CertFiles
// loads the new one. A failure is logged and retried. Always returns nil.
func RenewLocalCA(ctx context.Context, dir string, hosts []string, now func() time.Time) error {
	tick := time.NewTicker(renewalCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if _, _, _, err := LocalCA(dir, hosts, now()); err != nil {
				slog.ErrorContext(ctx, "server certificate not renewed", "error", err)
			}
		}
	}
}

// ensureCA returns the CA certificate for key, and creates it when there is none.
func ensureCA(path string, key crypto.Signer, now time.Time) (*x509.Certificate, error) {
	ca, err := readCert(path)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeCA(path, key, now); err == nil {
			ca, err = readCert(path)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !ca.IsCA || !samePublic(ca.PublicKey, key.Public()):
		return nil, fmt.Errorf("%s is not the CA of ca.key; remove both to start with a new CA", path)
	case now.After(ca.NotAfter):
		return nil, fmt.Errorf("%s expired on %s; remove it and ca.key to start with a new CA", path, ca.NotAfter.Format(time.DateOnly))
	}
	return ca, nil
}

func makeCA(path string, key crypto.Signer, now time.Time) error {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(public)
	tmpl := &x509.Certificate{
		// The name distinguishes the CAs of several installations in a trust store.
		Subject:               pkix.Name{Organization: []string{"Atrium"}, CommonName: "Atrium local CA " + hex.EncodeToString(sum[:4])},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.AddDate(caYears, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return err
	}
	return createFile(path, pemCert(der), 0o644)
}

// ensureCert makes sure that path contains a valid server certificate, and issues one when needed.
func ensureCert(path string, key crypto.Signer, ca *x509.Certificate, caKey crypto.Signer, names sans, now time.Time) error {
	if cert, err := readCert(path); err == nil && stillGood(cert, key, ca, names, now) {
		return nil
	}
	end := now.Add(certLife - clockSkew)
	if ca.NotAfter.Before(end) {
		end = ca.NotAfter
	}
	tmpl := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"Atrium"}, CommonName: "localhost"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              names.dns,
		IPAddresses:           names.ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	return replaceFile(path, pemCert(der), 0o644)
}

// stillGood reports whether cert may stay in use.
func stillGood(cert *x509.Certificate, key crypto.Signer, ca *x509.Certificate, names sans, now time.Time) bool {
	return samePublic(cert.PublicKey, key.Public()) &&
		cert.CheckSignatureFrom(ca) == nil &&
		!now.Before(cert.NotBefore) &&
		now.Add(renewBefore).Before(cert.NotAfter) &&
		names.within(cert)
}
