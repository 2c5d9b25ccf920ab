package tlsfront

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// reloadEvery is the minimum time between two checks of the files.
const reloadEvery = time.Second

// Files is a certificate in two PEM files, which are read again when they change. Safe for concurrent use.
type Files struct {
	certFile, keyFile string
	every             time.Duration
	log               *slog.Logger // nil: slog.Default() at the time of logging

	current atomic.Pointer[tls.Certificate]
	looked  atomic.Int64 // when the files were last checked, in nanoseconds since start
	looking atomic.Bool  // guards the fields below
	start   time.Time
	seen    [2]os.FileInfo // the files as last read, valid or not
	trouble string         // the last error logged
}

// CertFiles reads a certificate chain and its private key from PEM files. Later changes are noticed at handshakes, within about
// a second. A pair that cannot be read or does not match is logged, and the previous certificate stays in use. Returns an error
// when the first pair is not usable.
func CertFiles(certFile, keyFile string) (*Files, error) {
	f := &Files{certFile: certFile, keyFile: keyFile, every: reloadEvery, start: time.Now()}
	seen, err := f.stat()
	if err != nil {
		return nil, err
	}
	cert, err := f.read()
	if err != nil {
		return nil, err
	}
	f.seen = seen
	f.current.Store(cert)
	return f, nil
}

// TLSConfig returns a configuration for Listen with this certificate.
func (f *Files) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: f.GetCertificate}
}

// GetCertificate is for tls.Config. At most one handshake a second checks the files; all others do not wait. It returns no
// error.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := int64(time.Since(f.start))
	if now-f.looked.Load() >= int64(f.every) && f.looking.CompareAndSwap(false, true) {
		f.reload()
		f.looked.Store(now)
		f.looking.Store(false)
	}
	return f.current.Load(), nil
}

// reload reads the pair again if one of the files has changed.
func (f *Files) reload() {
	seen, err := f.stat() // before reading, so that a change in between is noticed next time
	if err != nil {
		f.complain(err)
		return
	}
	if !changed(f.seen[0], seen[0]) && !changed(f.seen[1], seen[1]) {
		return
	}
	cert, err := f.read()
	if err != nil {
		f.complain(err)
		if _, unreadable := errors.AsType[*os.PathError](err); !unreadable {
			f.seen = seen // reading the same files again would give the same error
		}
		return
	}
	f.seen, f.trouble = seen, ""
	f.current.Store(cert)
	f.logger().Info("certificate reloaded", "file", f.certFile, "expires", cert.Leaf.NotAfter)
}

func (f *Files) complain(err error) {
	if err.Error() == f.trouble {
		return
	}
	f.trouble = err.Error()
	f.logger().Error("certificate not reloaded, the one before stays in use", "file", f.certFile, "error", err)
}

func (f *Files) logger() *slog.Logger {
	if f.log != nil {
		return f.log
	}
	return slog.Default()
}

func (f *Files) stat() (seen [2]os.FileInfo, err error) {
	for i, name := range []string{f.certFile, f.keyFile} {
		if seen[i], err = os.Stat(name); err != nil {
			return seen, fmt.Errorf("tlsfront: look at certificate: %w", err)
		}
	}
	return seen, nil
}

func (f *Files) read() (*tls.Certificate, error) {
	certPEM, err := os.ReadFile(f.certFile)
	if err != nil {
		return nil, fmt.Errorf("tlsfront: read certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("tlsfront: read certificate key: %w", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("tlsfront: %s and %s: %w", f.certFile, f.keyFile, err)
	}
	return &cert, nil
}

// changed also detects another file of the same size and time, as a rename may leave.
func changed(a, b os.FileInfo) bool {
	return !a.ModTime().Equal(b.ModTime()) || a.Size() != b.Size() || !os.SameFile(a, b)
}
