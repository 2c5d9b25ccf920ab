// Package tlsfront is everything between the socket and net/http: one port that serves TLS and tells plain HTTP
// to use it, and the three places a server certificate can come from.
//
// cmd/atrium calls it, and internal/bench. They pick a certificate source, listen, and hand over their http.Server:
//
//	LocalCA, then CertFiles   a CA of our own in the data folder (the default); RenewLocalCA keeps it fresh
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
//	    └────────silence, no HTTP───▶ closed, after ReadHeaderTimeout at the latest
//
// At most 10,000 connections are open at once; newcomers beyond it wait in the kernel. Silent clients count among
// them until ReadHeaderTimeout closes them: an earlier version closed the longest silent connection in favour of a new
// one, in 500 lines more, and against a flood that a firewall in front of the port stops better.
//
// When Serve's context ends, net/http's Shutdown lets running requests finish; a second after the last of them, what
// is still open is closed. A request that arrives in the instant of the shutdown is dropped, and clients send it again.
//
// What it never does: look at the headers or the body of a plain request (a key sent that way is not even
// parsed), answer such a request with anything but 403, or replace a CA. It knows no routes, tenants or principals.
package tlsfront
