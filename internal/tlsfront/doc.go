// Package tlsfront is everything between the socket and net/http: one port that serves TLS and tells plain HTTP
// to use it, and the three places a server certificate can come from.
//
// Called by cmd/atrium alone. It picks a certificate source, listens, and hands over its http.Server:
//
//	LocalCA, then CertFiles   a CA of our own in the data folder (the default); RenewLocalCA keeps it fresh
//	CertFiles                 the operator's own files, reloaded when they change
//	ACME                      Let's Encrypt or another ACME directory, TLS-ALPN-01 on the same port
//
//	front, err := tlsfront.Listen(addr, files.TLSConfig())
//	err = front.Serve(ctx, srv)
//
// The life of a connection:
//
//	accepted ──(slot free)──▶ waiting ──0x16──────────────▶ net/http: handshake, HTTP/1.1 or h2
//	                            │  └─────HTTP request line─▶ 403 https_required ─▶ drained ─▶ closed
//	                            └─silent for 10 s, pushed out by newer ones, or no HTTP: closed
//
// The life of a Front:
//
//	listening ──Serve──▶ serving ──Shutdown, or Serve's context ends──▶ settling ──▶ draining ──▶ stopped
//
// What it never does: look at the headers or the body of a plain request (a key sent that way is not even
// parsed), answer such a request with anything but 403, let a silent client hold up another one, replace a CA,
// or add more than a branch to a request on a connection that is open. It knows no routes, tenants or principals.
package tlsfront
