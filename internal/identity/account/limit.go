package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/ent/throttle"
	"atrium/internal/store"
)

// How many mails strangers may ask for within a window that begins with the first one.
const (
	mailsTo     = 5  // one address
	mailsFrom   = 60 // one network
	mailsWindow = time.Hour
)

// verdict is what becomes of a request for a mail.
type verdict struct {
	Send bool          // otherwise the address has been mailed enough, which is nobody's business
	Wait time.Duration // the network has asked too often
}

// keyTo and keyFrom name the counters: an address is not kept in the clear, a network is one customer's.
func keyTo(email string) string {
	sum := sha256.Sum256([]byte(email))
	return "mail/to/" + hex.EncodeToString(sum[:])
}

func keyFrom(r *http.Request) string {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "mail/from/unknown"
	}
	addr, bits := ap.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	return "mail/from/" + netip.PrefixFrom(addr, bits).Masked().String()
}

// ask counts a stranger's request for a mail and queues it, both in one transaction that is the same for every address.
func (s *Server) ask(r *http.Request, a ask) (wait time.Duration, err error) {
	return s.limited(r, a.Email, func(ctx context.Context, tx *store.Tx) error { return s.letters.ask(ctx, tx, a) })
}

// limited runs send in the transaction that counts a mail to the address, unless the address has been mailed enough. A
// network that asks too often is told to wait, and nothing is written for it.
func (s *Server) limited(r *http.Request, email string, send func(context.Context, *store.Tx) error) (wait time.Duration, err error) {
	from, to := keyFrom(r), keyTo(email)
	row, err := s.store.Reader().Throttle.Query().Where(throttle.ID(from)).Only(s.system(r.Context()))
	if err != nil && !ent.IsNotFound(err) {
		return 0, fmt.Errorf("read the throttle: %w", err)
	}
	if wait := s.spent(row, mailsFrom); wait > 0 {
		return wait, nil
	}
	var v verdict
	try := func() error {
		return s.store.Write(s.system(r.Context()), func(ctx context.Context, tx *store.Tx) error {
			if v, err = s.count(ctx, tx, from, to); err != nil || !v.Send {
				return err
			}
			return send(ctx, tx)
		})
	}
	err = try()
	if violation, ok := errors.AsType[*store.Violation](err); ok && violation.Kind == store.Unique {
		err = try() // another request made a counter at this moment
	}
	if err != nil {
		return 0, fmt.Errorf("ask for a mail: %w", err)
	}
	return v.Wait, nil
}

// count adds one to both counters, the network's first and always in this order, so that requests wait for each other
// and not in a circle.
func (s *Server) count(ctx context.Context, tx *store.Tx, from, to string) (verdict, error) {
	network, err := locked(ctx, tx, from)
	if err != nil {
		return verdict{}, err
	}
	if wait := s.spent(network, mailsFrom); wait > 0 {
		return verdict{Wait: wait}, nil
	}
	person, err := locked(ctx, tx, to)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{Send: s.spent(person, mailsTo) == 0}
	return v, errors.Join(s.add(ctx, tx, network, from), s.add(ctx, tx, person, to))
}

// locked reads a counter for a change; nil when there is none.
func locked(ctx context.Context, tx *store.Tx, key string) (*ent.Throttle, error) {
	q := tx.Throttle.Query().Where(throttle.ID(key))
	if tx.Dialect() == dialect.Postgres {
		q.ForUpdate()
	}
	row, err := q.Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // none
	}
	if err != nil {
		return nil, fmt.Errorf("read the throttle: %w", err)
	}
	return row, nil
}

// spent returns how long a counter that has reached its limit stays so.
func (s *Server) spent(row *ent.Throttle, limit int) time.Duration {
	if row == nil || row.Failures < limit {
		return 0
	}
	return max(0, row.ExpiresAt.Sub(s.now()))
}

func (s *Server) add(ctx context.Context, tx *store.Tx, row *ent.Throttle, key string) error {
	var err error
	switch now := s.now(); {
	case row == nil:
		err = tx.Throttle.Create().SetID(key).SetFailures(1).SetExpiresAt(now.Add(mailsWindow)).Exec(ctx)
	case !row.ExpiresAt.After(now):
		err = row.Update().SetFailures(1).SetExpiresAt(now.Add(mailsWindow)).Exec(ctx)
	default:
		err = row.Update().AddFailures(1).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("count a request for a mail: %w", err)
	}
	return nil
}
