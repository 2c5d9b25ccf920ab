package sender

import (
	"context"
	"errors"
	"net"
	"sync"
)

// bounded is a resolver with a number of queries left. Signatures are verified at the same time, so it locks.
type bounded struct {
	Resolver
	ctx context.Context // of the one check that it is made for: the libraries of DKIM and DMARC pass none

	mu     sync.Mutex
	left   int
	failed bool // a query had no answer
}

// errQueries is temporary for nobody: the mail asks for too much.
var errQueries = errors.New("more queries than one mail may cause")

func (b *bounded) take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left--; b.left < 0 {
		return errQueries
	}
	return b.ctx.Err()
}

// answered notes a query that nobody answered. That a name does not exist is an answer.
func (b *bounded) answered(err error) {
	if dns, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !dns.IsNotFound) {
		b.mu.Lock()
		b.failed = true
		b.mu.Unlock()
	}
}

// ask makes a query, if one is left.
func ask[T any](b *bounded, query func() ([]T, error)) ([]T, error) {
	if err := b.take(); err != nil {
		return nil, err
	}
	out, err := query()
	b.answered(err)
	return out, err
}

func (b *bounded) txt(name string) ([]string, error) { return b.LookupTXT(b.ctx, name) }

func (b *bounded) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return ask(b, func() ([]string, error) { return b.Resolver.LookupTXT(ctx, name) })
}

func (b *bounded) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return ask(b, func() ([]*net.MX, error) { return b.Resolver.LookupMX(ctx, name) })
}

func (b *bounded) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return ask(b, func() ([]net.IPAddr, error) { return b.Resolver.LookupIPAddr(ctx, host) })
}

func (b *bounded) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return ask(b, func() ([]string, error) { return b.Resolver.LookupAddr(ctx, addr) })
}
