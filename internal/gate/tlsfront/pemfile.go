package tlsfront

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ensureKey reads the private key in path, and creates one when there is none.
func ensureKey(path string) (crypto.Signer, error) {
	key, err := readKey(path)
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	fresh, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(fresh)
	if err != nil {
		return nil, err
	}
	if err := createFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return nil, err
	}
	return readKey(path) // another process may have been first
}

// readKey reads a PKCS #8 key, and removes the permissions of other users on it.
func readKey(path string) (crypto.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, err
		}
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no private key", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s holds a key that cannot sign", path)
	}
	return signer, nil
}

func readCert(path string) (*x509.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cert, nil
}

func pemCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func samePublic(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// createFile writes path atomically, unless it exists by then. The first writer wins, and nobody sees half a file.
func createFile(path string, data []byte, perm os.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // fails after a rename, when nothing is left to remove
	err = os.Link(temp, path)
	switch {
	case err == nil || errors.Is(err, os.ErrExist):
		return syncDir(path)
	case errors.Is(err, os.ErrNotExist):
		return err
	}
	// Without hard links, the last writer wins, and all processes read what it wrote.
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(path)
}

// replaceFile replaces path atomically: readers see the old file or the new one.
func replaceFile(path string, data []byte, perm os.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(path)
}

// writeTemp writes data to a new file beside path and syncs it to disk.
func writeTemp(path string, data []byte, perm os.FileMode) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(perm), file.Sync(), file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// syncDir syncs the folder of path, so that a new name survives a crash. Some systems cannot do this; it is then written later.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}
