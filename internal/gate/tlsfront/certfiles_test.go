package tlsfront

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair holds the paths of a certificate, its key and its CA.
type pair struct{ ca, cert, key string }

func newPair(t *testing.T) pair {
	t.Helper()
	ca, cert, key, err := LocalCA(t.TempDir(), nil, time.Now())
	require.NoError(t, err)
	return pair{ca, cert, key}
}

func (p pair) serial(t *testing.T) string {
	t.Helper()
	cert, err := readCert(p.cert)
	require.NoError(t, err)
	return cert.SerialNumber.String()
}

// copyFile overwrites to in place with the content of from.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

func served(t *testing.T, f *Files) *big.Int {
	t.Helper()
	cert, err := f.GetCertificate(nil)
	require.NoError(t, err)
	return cert.Leaf.SerialNumber
}

func TestReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	old, next := newPair(t), newPair(t)
	oldSerial, nextSerial := old.serial(t), next.serial(t)
	pool := poolOf(t, old.ca)
	data, err := os.ReadFile(next.ca)
	require.NoError(t, err)
	require.True(t, pool.AppendCertsFromPEM(data))

	files, err := CertFiles(old.cert, old.key)
	require.NoError(t, err)
	files.every, files.log = 0, slog.New(slog.DiscardHandler)
	b := serve(t, hello, files.TLSConfig(), pool)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	serials, failures := make(chan string, 1000), make(chan error, 1000)
	var workers sync.WaitGroup
	for i := range 4 {
		client := b.client(t, i%2 == 0)
		workers.Go(func() {
			for ctx.Err() == nil {
				res, err := client.Get(b.url())
				if err != nil {
					failures <- err
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				select {
				case serials <- res.TLS.PeerCertificates[0].SerialNumber.String():
				case <-ctx.Done():
				}
				client.CloseIdleConnections() // so that every request has a handshake
			}
		})
	}
	require.Equal(t, oldSerial, receive(t, serials, "first serial"))
	copyFile(t, next.cert, old.cert) // the pair does not match for a while
	for range 20 {
		require.Equal(t, oldSerial, receive(t, serials, "serial of the broken pair"))
	}
	copyFile(t, next.key, old.key)
	for receive(t, serials, "new serial") != nextSerial {
	}
	stop()
	workers.Wait()
	require.Empty(t, failures)
}

func TestBrokenPairKeepsTheOld(t *testing.T) {
	t.Parallel()
	p, other := newPair(t), newPair(t)
	files, err := CertFiles(p.cert, p.key)
	require.NoError(t, err)
	var log bytes.Buffer
	files.every, files.log = 0, slog.New(slog.NewTextHandler(&log, nil))
	first := served(t, files)
	require.Empty(t, log.String())
	good, err := os.ReadFile(p.cert)
	require.NoError(t, err)

	for name, spoil := range map[string]func(){
		"another's certificate": func() { copyFile(t, other.cert, p.cert) },
		"half a certificate":    func() { require.NoError(t, os.WriteFile(p.cert, good[:len(good)/2], 0o600)) },
		"empty":                 func() { require.NoError(t, os.WriteFile(p.cert, nil, 0o600)) },
		"gone":                  func() { require.NoError(t, os.Remove(p.cert)) },
	} {
		log.Reset()
		spoil()
		for range 3 {
			require.Equal(t, first, served(t, files), name)
		}
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=ERROR")), "%s: %s", name, log.String())
		require.NotContains(t, log.String(), "PRIVATE")

		log.Reset()
		require.NoError(t, replaceFile(p.cert, good, 0o600))
		require.Equal(t, first, served(t, files), name)
		require.Contains(t, log.String(), "certificate reloaded")
	}
}

// Between two checks, handshakes read no file.
func TestLooksAtMostEverySoOften(t *testing.T) {
	t.Parallel()
	p, other := newPair(t), newPair(t)
	files, err := CertFiles(p.cert, p.key)
	require.NoError(t, err)
	require.Equal(t, time.Second, files.every)
	files.every, files.log = time.Hour, slog.New(slog.DiscardHandler)
	first := served(t, files)
	copyFile(t, other.cert, p.cert)
	copyFile(t, other.key, p.key)
	require.Equal(t, first, served(t, files))
	files.start = files.start.Add(-time.Hour)
	require.NotEqual(t, first, served(t, files))
}

func TestCertFilesRefuses(t *testing.T) {
	t.Parallel()
	p, other := newPair(t), newPair(t)
	_, err := CertFiles(p.cert, other.key)
	require.ErrorContains(t, err, "private key does not match public key")
	_, err = CertFiles(filepath.Join(t.TempDir(), "none"), p.key)
	require.ErrorIs(t, err, os.ErrNotExist)
}
