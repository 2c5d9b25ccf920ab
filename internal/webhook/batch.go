package webhook

import (
	"context"
	"errors"
	"sync"
)

// batcher does for many at once what callers ask for one at a time: whoever comes while a batch is under way is in the
// next one. It waits for nobody, so a single caller is a batch of its own at once.
type batcher[In, Out any] struct {
	most int                                        // in one batch
	do   func(context.Context, []In) ([]Out, error) // one Out an In, in their order

	mu      sync.Mutex
	busy    bool
	pending []*waiting[In, Out]
}

type waiting[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

// call returns what do returns for in. An error of a batch of several is taken back: each of them is tried alone, so that
// one that cannot be done does not keep the others from it.
func (b *batcher[In, Out]) call(in In) (Out, error) {
	w := &waiting[In, Out]{in: in, done: make(chan struct{})}
	b.mu.Lock()
	b.pending = append(b.pending, w)
	lead := !b.busy
	b.busy = true
	b.mu.Unlock()
	if lead {
		go b.run() // ends when nobody waits any more
	}
	<-w.done
	return w.out, w.err
}

// run does batches until nobody waits.
func (b *batcher[In, Out]) run() {
	for {
		b.mu.Lock()
		n := min(len(b.pending), b.most)
		if n == 0 {
			b.busy, b.pending = false, nil
			b.mu.Unlock()
			return
		}
		batch := b.pending[:n:n]
		b.pending = b.pending[n:]
		b.mu.Unlock()
		if err := b.try(batch); err != nil && n > 1 {
			for i := range batch {
				_ = b.try(batch[i : i+1]) // its error is in it
			}
		}
		for _, w := range batch {
			close(w.done)
		}
	}
}

var errBatch = errors.New("webhook: a batch returned another number of results than it was given")

// try does one batch and puts the results into it.
func (b *batcher[In, Out]) try(batch []*waiting[In, Out]) error {
	ins := make([]In, len(batch))
	for i, w := range batch {
		ins[i] = w.in
	}
	outs, err := b.do(context.Background(), ins)
	if err == nil && len(outs) != len(ins) {
		err = errBatch
	}
	for i, w := range batch {
		if w.err = err; err == nil {
			w.out = outs[i]
		}
	}
	return err
}
