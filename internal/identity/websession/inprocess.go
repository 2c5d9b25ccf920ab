package websession

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// inProcess returns a transport that passes requests for the provider's host directly to its handler. So the server needs
// neither to reach itself under its public name nor to trust its own certificate.
func inProcess(providerURL string, h http.Handler) (http.RoundTripper, error) {
	u, err := url.Parse(providerURL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the address of the identity provider is no address")
	}
	return handlerTransport{host: u.Host, handler: h}, nil
}

type handlerTransport struct {
	host    string
	handler http.Handler
}

// RoundTrip serves the request with the handler.
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if !strings.EqualFold(r.URL.Host, t.host) {
		return nil, fmt.Errorf("%s is not the identity provider", r.URL.Host)
	}
	in := r.Clone(r.Context())
	in.RequestURI, in.Host, in.RemoteAddr, in.TLS = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:0", &tls.ConnectionState{}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := &answer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(out, in)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.status, http.StatusText(out.status)), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.header, Body: io.NopCloser(&out.body), ContentLength: int64(out.body.Len()), Request: r,
	}, nil
}

// answer records the response of a handler.
type answer struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

// Header returns the headers of the response.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status, once.
func (a *answer) WriteHeader(status int) {
	if !a.begun && status >= http.StatusOK {
		a.status, a.begun = status, true
	}
}

// Write appends to the body.
func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.body.Write(b)
}
