package receiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/egress"
)

// Loopback is the range that a client's egress guard must allow to reach a receiver.
var Loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// authority is the CA of all receivers of a process.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// issue makes a certificate for 127.0.0.1 and the names.
func (a *authority) issue(names ...string) (tls.Certificate, error) {
	return a.sign(&x509.Certificate{DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
}

// sign completes the certificate template and signs it.
func (a *authority) sign(t *x509.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t.SerialNumber, t.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "receiver"}
	t.NotBefore, t.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

var trusted = sync.OnceValues(func() (*authority, error) { return newAuthority("receivers") })

// pair is the certificate of every receiver except those with a wrong one: for 127.0.0.1, localhost and *.test.
var pair = sync.OnceValues(func() (tls.Certificate, error) {
	ca, err := trusted()
	if err != nil {
		return tls.Certificate{}, err
	}
	return ca.issue("localhost", "*.test")
})

// CAFile writes the CA of the receivers' certificates to a temporary file and returns its path.
func CAFile(tb testing.TB) string {
	tb.Helper()
	ca, err := trusted()
	require.NoError(tb, err)
	path := filepath.Join(tb.TempDir(), "receivers.pem")
	require.NoError(tb, os.WriteFile(path, ca.pem, 0o600))
	return path
}

// Client returns a client that trusts receivers and may call them, until the test ends. A call takes this long at most; zero for the default.
func Client(tb testing.TB, longest time.Duration) *egress.Client {
	tb.Helper()
	c, err := egress.New(egress.Options{Allow: Loopback, CAFile: CAFile(tb), Timeout: longest})
	require.NoError(tb, err)
	tb.Cleanup(c.Close)
	return c
}

// Got is one recorded call.
type Got struct {
	At     time.Time
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// Receiver is an HTTPS server on loopback that records its calls.
type Receiver struct {
	URL string // https://127.0.0.1:port

	server *httptest.Server
	mu     sync.Mutex
	got    []Got
	change chan struct{}
}

// New starts a receiver that answers with the handler. The request's body has been read before the handler is called. A nil
// handler answers 204. The receiver stops at the end of the test.
func New(tb testing.TB, handler http.Handler) *Receiver {
	tb.Helper()
	cert, err := pair()
	require.NoError(tb, err)
	return start(tb, cert, handler)
}

func start(tb testing.TB, cert tls.Certificate, handler http.Handler) *Receiver {
	tb.Helper()
	if handler == nil {
		handler = Status(http.StatusNoContent, "")
	}
	r := &Receiver{change: make(chan struct{})}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the caller closed the connection
		}
		r.keep(Got{At: time.Now(), Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body})
		handler.ServeHTTP(w, req)
	}))
	r.server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests make handshakes fail
	r.server.StartTLS()
	r.URL = r.server.URL
	tb.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

func (r *Receiver) keep(g Got) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, g)
	close(r.change)
	r.change = make(chan struct{})
}

// Got returns the calls so far, in order of arrival.
func (r *Receiver) Got() []Got {
	got, _ := r.now()
	return got
}

func (r *Receiver) now() ([]Got, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[:len(r.got):len(r.got)], r.change
}

// Await waits until at least n calls have arrived and returns them.
func (r *Receiver) Await(tb testing.TB, n int) []Got {
	tb.Helper()
	late := time.After(60 * time.Second)
	for {
		got, more := r.now()
		if len(got) >= n {
			return got
		}
		select {
		case <-more:
		case <-late:
			require.FailNow(tb, "calls are missing", "%d of %d arrived", len(got), n)
		}
	}
}

// Port returns the receiver's port, for URLs with another host.
func (r *Receiver) Port() string {
	_, port, err := net.SplitHostPort(r.server.Listener.Addr().String())
	if err != nil {
		return ""
	}
	return port
}

// NewBare starts a server with the receivers' certificate that records nothing, for measurements, and returns its URL.
func NewBare(tb testing.TB, handler http.Handler) string {
	tb.Helper()
	cert, err := pair()
	require.NoError(tb, err)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}
