package password

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/alexedwards/argon2id"
)

// How long helpers live and are waited for.
const (
	helperIdle  = time.Minute      // without work until one is let go
	helperLate  = 30 * time.Second // for an answer that takes a tenth of a second when the machine has time
	helperPause = time.Minute      // until one is started again after it could not be
)

// errClosed says that the helpers are not used any more.
var errClosed = errors.New("password: the helpers are stopped")

// task is what a helper is asked: to hold a password against a hash or, without one, to hash it.
type task struct {
	Plain []byte `json:"plain"` // bytes, as a text of JSON is not any

	Hash   string           `json:"hash,omitempty"`
	Params *argon2id.Params `json:"params,omitempty"`
}

// done is its answer.
type done struct {
	Same bool   `json:"same,omitempty"`
	Hash string `json:"hash,omitempty"`
	Err  string `json:"err,omitempty"`
}

// perform does a task here.
func (t task) perform() (done, error) {
	var d done
	var err error
	if t.Params != nil {
		d.Hash, err = argon2id.CreateHash(string(t.Plain), t.Params)
	} else {
		d.Same, err = argon2id.ComparePasswordAndHash(string(t.Plain), t.Hash)
	}
	if err != nil {
		return done{}, fmt.Errorf("argon2id: %w", err)
	}
	return d, nil
}

// Help is the whole life of a helper: it performs the tasks that come in, one after the other, until their end.
func Help(in io.Reader, out io.Writer) error {
	tasks, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var t task
		if err := tasks.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return errors.New("password: a task cannot be read") // its text is a secret
		}
		d, err := t.perform()
		if err != nil {
			d.Err = err.Error()
		}
		if err := answers.Encode(d); err != nil {
			return fmt.Errorf("password: answer a task: %w", err)
		}
		runtime.GC() // now, and not while the next one waits
	}
}

// helpers are processes that hash, one for each worker that is busy. They are started when there is work, and let go when
// there has been none for a while.
type helpers struct {
	command []string
	log     *slog.Logger
	mu      sync.Mutex
	idle    []*helper // the one that worked last comes last
	lame    time.Time // when one could not be started
	closed  bool
	gone    sync.WaitGroup // of the processes
}

// helper is a process.
type helper struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	tasks   *json.Encoder
	answers *json.Decoder
	tired   *time.Timer // lets it go
}

// perform has a helper do the task. One that ends without an answer is replaced once. Where none can be started, the
// task is done here: slower calls are better than nobody who can sign in.
func (h *helpers) perform(t task) (done, error) {
	for range 2 {
		p, err := h.take()
		if err != nil {
			return t.perform()
		}
		d, err := p.ask(t)
		if err != nil {
			h.end(p)
			h.log.Warn("a password helper ended early", "error", err)
			continue
		}
		h.give(p)
		if d.Err != "" {
			return done{}, errors.New(d.Err)
		}
		return d, nil
	}
	return done{}, errors.New("password: two helpers ended without an answer")
}

// take returns a helper that has nothing to do, a new one if need be.
func (h *helpers) take() (*helper, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := len(h.idle); n > 0; n = len(h.idle) {
		p := h.idle[n-1]
		h.idle = h.idle[:n-1]
		if p.tired.Stop() {
			return p, nil
		}
		h.let(p) // its time was up at this moment
	}
	if h.closed {
		return nil, errClosed
	}
	if time.Since(h.lame) < helperPause {
		return nil, errors.New("password: no helper can be started")
	}
	p, err := start(h.command)
	if err != nil {
		h.lame = time.Now()
		h.log.Warn("no password helper can be started: passwords are hashed in the server, which slows other calls", "error", err)
		return nil, err
	}
	h.gone.Add(1)
	return p, nil
}

// let lets a helper go.
func (h *helpers) let(p *helper) {
	go func() {
		defer h.gone.Done()
		p.stop()
	}()
}

// give puts a helper back until there is more to do.
func (h *helpers) give(p *helper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		h.let(p)
		return
	}
	p.tired = time.AfterFunc(helperIdle, func() { h.rest(p) })
	h.idle = append(h.idle, p)
}

// rest lets a helper go that is idle still.
func (h *helpers) rest(p *helper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, q := range h.idle {
		if q == p {
			h.idle = append(h.idle[:i], h.idle[i+1:]...)
			h.let(p)
			return
		}
	}
}

// end ends a helper that did not answer.
func (h *helpers) end(p *helper) {
	_ = p.cmd.Process.Kill() // or it has ended by itself
	h.let(p)
}

// close lets all helpers go and waits for them. Whoever still has one gets its answer.
func (h *helpers) close() {
	h.mu.Lock()
	h.closed = true
	for _, p := range h.idle {
		p.tired.Stop()
		h.let(p)
	}
	h.idle = nil
	h.mu.Unlock()
	h.gone.Wait()
}

// start starts a helper. It gets none of the server's variables, as some are secrets, and comes after others on the
// machine.
func start(command []string) (*helper, error) {
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...) //nolint:gosec // our own binary
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"}                               // one task at a time; the block of each is collected after it
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a password helper: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a password helper: %w", err)
	}
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a password helper: %w", err)
	}
	yield(cmd.Process)
	return &helper{cmd: cmd, in: in, tasks: json.NewEncoder(in), answers: json.NewDecoder(bufio.NewReader(out))}, nil
}

// ask gives the helper a task and waits for the answer. One that is late is killed, which ends the wait.
func (p *helper) ask(t task) (done, error) {
	late := time.AfterFunc(helperLate, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	var d done
	if err := p.tasks.Encode(t); err != nil {
		return d, fmt.Errorf("ask: %w", err)
	}
	if err := p.answers.Decode(&d); err != nil {
		return d, fmt.Errorf("wait for the answer: %w", err)
	}
	return d, nil
}

// stop tells the helper that nothing comes any more and waits for its end.
func (p *helper) stop() {
	_ = p.in.Close()
	late := time.AfterFunc(helperLate, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait() // how it ended changes nothing
}
