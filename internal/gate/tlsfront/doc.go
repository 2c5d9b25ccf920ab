// Package tlsfront handles everything between the socket and net/http: one port that serves TLS and tells plain HTTP clients to
// use HTTPS, and the three sources of a server certificate.
//
// cmd/atrium and internal/test/bench call it. They choose a certificate source, listen, and pass their http.Server:
//
//	LocalCA, then CertFiles   the installation's own CA in the data folder (the default); RenewLocalCA renews the certificate
//	CertFiles                 the operator's own files, reloaded when they change
//	ACME                      Let's Encrypt or another ACME directory, TLS-ALPN-01 on the same port
//
//	front, err := tlsfront.Listen(addr, files.TLSConfig())
//	err = front.Serve(ctx, srv)
//
// The life of a connection, all of it in the goroutine that net/http gives it:
//
//	accepted ──first byte 0x16──────▶ TLS handshake, HTTP/1.1 or h2
//	    │  └─────HTTP request line──▶ 403 https_required ─▶ drained for a second ─▶ closed
//	    └────────silence, no HTTP───▶ closed, after at most ReadHeaderTimeout
//
// At most 10,000 connections are open at once; further ones wait in the kernel. Silent clients count among them until
// ReadHeaderTimeout closes them. An earlier version closed the longest silent connection in favour of a new one; this took 500
// more lines, and a firewall in front of the port stops such floods better.
//
// When Serve's context ends, net/http's Shutdown lets running requests finish. One second after the last of them, connections
// that are still open are closed. A request that arrives at the moment of the shutdown is dropped, and clients send it again.
//
// The package never reads the headers or the body of a plain HTTP request (an API key sent that way is not even parsed), never
// answers such a request with anything but 403, and never replaces a CA. It knows no routes, tenants or principals.
package tlsfront
