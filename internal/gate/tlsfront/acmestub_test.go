package tlsfront

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/acme"
)

const stubToken = "a-token"

// acmeStub is an ACME directory (RFC 8555) for one account and one order at a time. It really validates TLS-ALPN-01 (RFC 8737)
// against front, but does not check the signatures and nonces of requests.
type acmeStub struct {
	t       *testing.T
	server  *httptest.Server
	cert    *x509.Certificate
	key     crypto.Signer
	pool    *x509.CertPool
	front   string // address that every domain resolves to
	orders  atomic.Int32
	contact []string

	thumbprint, domain, status string
	issued                     []byte
}

func newACMEStub(t *testing.T) *acmeStub {
	t.Helper()
	dir := t.TempDir()
	key, err := ensureKey(filepath.Join(dir, "ca.key"))
	require.NoError(t, err)
	cert, err := ensureCA(filepath.Join(dir, "ca.pem"), key, time.Now())
	require.NoError(t, err)
	s := &acmeStub{t: t, cert: cert, key: key, pool: certPool(cert)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dir", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, 200, map[string]any{
			"newNonce": s.url() + "/nonce", "newAccount": s.url() + "/account", "newOrder": s.url() + "/order",
			"meta": map[string]string{"termsOfService": s.url() + "/terms"},
		})
	})
	mux.HandleFunc("HEAD /nonce", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /account", s.account)
	mux.HandleFunc("POST /order", s.order)
	mux.HandleFunc("POST /order/1", func(w http.ResponseWriter, _ *http.Request) { s.answerOrder(w, 200) })
	mux.HandleFunc("POST /authz", s.authz)
	mux.HandleFunc("POST /challenge", s.challenge)
	mux.HandleFunc("POST /finalize", s.finalize)
	mux.HandleFunc("POST /cert", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(pemCert(s.issued)) })
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Replay-Nonce", "nonce")
		w.Header().Set("Location", s.url()+"/order/1")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *acmeStub) url() string { return s.server.URL }

func (s *acmeStub) answer(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

// read decodes the parts of a JWS; body may be nil.
func (s *acmeStub) read(r *http.Request, header, body any) {
	var jws struct{ Protected, Payload string }
	err := json.NewDecoder(r.Body).Decode(&jws)
	for text, into := range map[string]any{jws.Protected: header, jws.Payload: body} {
		if raw, e := base64.RawURLEncoding.DecodeString(text); e != nil {
			err = errors.Join(err, e)
		} else if into != nil && len(raw) > 0 {
			err = errors.Join(err, json.Unmarshal(raw, into))
		}
	}
	if err != nil {
		s.t.Error(r.URL, err)
	}
}

func (s *acmeStub) account(w http.ResponseWriter, r *http.Request) {
	var header struct{ JWK struct{ X, Y string } }
	var body struct {
		Contact              []string
		TermsOfServiceAgreed bool
	}
	s.read(r, &header, &body)
	key, kerr := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, decoded(header.JWK.X), decoded(header.JWK.Y)))
	thumbprint, err := acme.JWKThumbprint(key)
	if err != nil || kerr != nil || !body.TermsOfServiceAgreed {
		s.t.Error("account", err, body.TermsOfServiceAgreed)
	}
	s.thumbprint, s.contact = thumbprint, body.Contact
	s.answer(w, http.StatusCreated, map[string]any{"status": "valid"})
}

func (s *acmeStub) order(w http.ResponseWriter, r *http.Request) {
	var body struct{ Identifiers []struct{ Value string } }
	s.read(r, nil, &body)
	s.orders.Add(1)
	s.domain, s.status = body.Identifiers[0].Value, acme.StatusPending
	s.answerOrder(w, http.StatusCreated)
}

func (s *acmeStub) answerOrder(w http.ResponseWriter, code int) {
	status := s.status
	if status == acme.StatusValid && s.issued == nil {
		status = acme.StatusReady
	}
	s.answer(w, code, map[string]any{
		"status": status, "authorizations": []string{s.url() + "/authz"},
		"finalize": s.url() + "/finalize", "certificate": s.url() + "/cert",
	})
}

func (s *acmeStub) authz(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, 200, map[string]any{
		"status": s.status, "identifier": map[string]string{"type": "dns", "value": s.domain},
		"challenges": []any{map[string]string{"type": "tls-alpn-01", "url": s.url() + "/challenge", "token": stubToken, "status": s.status}},
	})
}

// challenge validates as described in RFC 8737, section 3.
func (s *acmeStub) challenge(w http.ResponseWriter, _ *http.Request) {
	s.status = acme.StatusInvalid
	c, err := tls.Dial("tcp", s.front, &tls.Config{
		ServerName: s.domain, NextProtos: []string{acme.ALPNProto}, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, // the challenge's certificate is self-signed
	})
	if err != nil {
		s.t.Error("validation", err)
	} else {
		defer func() { _ = c.Close() }()
		state := c.ConnectionState()
		sum := sha256.Sum256([]byte(stubToken + "." + s.thumbprint))
		want, err := asn1.Marshal(sum[:])
		if err != nil {
			s.t.Error(err)
		}
		for _, ext := range state.PeerCertificates[0].Extensions {
			if ext.Id.String() == "1.3.6.1.5.5.7.1.31" && string(ext.Value) == string(want) && state.NegotiatedProtocol == acme.ALPNProto {
				s.status = acme.StatusValid
			}
		}
	}
	s.answer(w, 200, map[string]any{"type": "tls-alpn-01", "url": s.url() + "/challenge", "token": stubToken, "status": s.status})
}

func (s *acmeStub) finalize(w http.ResponseWriter, r *http.Request) {
	var body struct{ CSR string }
	s.read(r, nil, &body)
	raw, err := base64.RawURLEncoding.DecodeString(body.CSR)
	if err != nil {
		s.t.Error(err)
	}
	csr, err := x509.ParseCertificateRequest(raw)
	if err != nil {
		s.t.Error(err)
		return
	}
	tmpl := &x509.Certificate{
		DNSNames: csr.DNSNames, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * day),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	s.issued, err = x509.CreateCertificate(rand.Reader, tmpl, s.cert, csr.PublicKey, s.key)
	if err != nil {
		s.t.Error(err)
	}
	s.answerOrder(w, 200)
}

// decoded decodes a coordinate of a JWK: 32 bytes.
func decoded(text string) []byte {
	raw, _ := base64.RawURLEncoding.DecodeString(text)
	return raw
}
