package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// connections is the number of connections to each server.
const connections = 32

// load is a set of open connections to one server.
type load struct {
	server *server
	conns  []*conn
}

type conn struct {
	tls  *tls.Conn
	in   *bufio.Reader
	next int // index of the next request; connections start at different ones
}

func dial(ctx context.Context, w *world, s *server, n int) (*load, error) {
	pem, err := os.ReadFile(w.CA)
	if err != nil {
		return nil, fmt.Errorf("read the CA: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS13}}
	l := &load{server: s}
	for i := range n {
		c, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", s.name, err)
		}
		tc, _ := c.(*tls.Conn)
		l.conns = append(l.conns, &conn{tls: tc, in: bufio.NewReaderSize(tc, 32<<10), next: i * 7919})
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.conns {
		_ = c.tls.Close()
	}
}

// sliceResult holds the measurements of one slice of load.
type sliceResult struct {
	took      time.Duration
	cpu       time.Duration // of the server's process
	latencies []time.Duration
}

func (r sliceResult) rate() float64 { return float64(len(r.latencies)) / r.took.Seconds() }

// slice loads the server for d. Every answer must have the given status.
func (l *load) slice(requests [][]byte, status int, d time.Duration) (sliceResult, error) {
	results := make([][]time.Duration, len(l.conns))
	errs := make([]error, len(l.conns))
	before, began := cpuTime(l.server.pid), time.Now()
	var wg sync.WaitGroup
	for i, c := range l.conns {
		wg.Go(func() {
			for at := time.Now(); at.Sub(began) < d; {
				c.next++
				if errs[i] = c.call(requests[c.next%len(requests)], status, nil); errs[i] != nil {
					return
				}
				now := time.Now()
				results[i] = append(results[i], now.Sub(at))
				at = now
			}
		})
	}
	wg.Wait()
	r := sliceResult{took: time.Since(began), cpu: cpuTime(l.server.pid) - before, latencies: slices.Concat(results...)}
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("%s: %w", l.server.name, err)
	}
	return r, nil
}

// call sends one request and reads its answer. The body goes to w unless w is nil.
func (c *conn) call(request []byte, status int, w io.Writer) error {
	if _, err := c.tls.Write(request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read the status: %w", err)
	}
	if len(line) < 12 {
		return fmt.Errorf("not a status: %q", line)
	}
	got, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return fmt.Errorf("not a status: %q", line)
	}
	length := -1
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return fmt.Errorf("read the headers: %w", err)
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		const name = "Content-Length: "
		if len(line) > len(name) && line[0] == 'C' && string(line[:len(name)]) == name {
			if length, err = strconv.Atoi(string(line[len(name):])); err != nil {
				return fmt.Errorf("read the length: %w", err)
			}
		}
	}
	if length < 0 {
		return errors.New("an answer without Content-Length")
	}
	if got != status {
		body := make([]byte, length)
		_, _ = io.ReadFull(c.in, body)
		return fmt.Errorf("status %d instead of %d: %s", got, status, strings.TrimSpace(string(body)))
	}
	if w != nil {
		_, err = io.CopyN(w, c.in, int64(length))
	} else {
		_, err = c.in.Discard(length)
	}
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	return nil
}
