package throttle

import (
	"context"
	"fmt"
	"net/http"
	"time"

	entthrottle "atrium/ent/throttle"
	"atrium/internal/gate"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

// The limits of proofs, messages and mails; doc.go explains them.
var (
	AccountLimit = ratelimit.Attempts{Max: 20, Window: 24 * time.Hour, FirstPause: time.Minute, MostPause: 45 * time.Minute}
	BrowserLimit = ratelimit.Attempts{Max: 10, Window: 24 * time.Hour, FirstPause: 24 * time.Hour, MostPause: 24 * time.Hour}
	AddressLimit = ratelimit.Attempts{Max: 100, Window: 15 * time.Minute, FirstPause: 10 * time.Second, MostPause: 15 * time.Minute}
	messageLimit = ratelimit.Attempts{Max: 5, Window: 30 * time.Minute, FirstPause: 15 * time.Minute, MostPause: 45 * time.Minute}
	messagesFrom = ratelimit.Attempts{Max: 60, Window: time.Hour}
	mailsTo      = ratelimit.Attempts{Max: 5, Window: time.Hour}
	mailsFrom    = ratelimit.Attempts{Max: 60, Window: time.Hour}
)

// Throttle counts attempts in the store's database. Safe for concurrent use.
type Throttle struct{ store *store.Store }

// New returns the throttle of a store.
func New(s *store.Store) *Throttle { return &Throttle{store: s} }

// Attempt is an attempted proof that is being checked.
type Attempt struct {
	counters []ratelimit.Counter
	account  string // the key of the account's counter; a success resets it
}

// AccountKey names the counter of an account's failures.
func AccountKey(email string) string { return "account/" + ratelimit.Hidden(email) }

// AddressKey names the counter of the failures from a request's address.
func AddressKey(r *http.Request) string { return "address/" + Network(r) }

// Network names the network of a request's client.
func Network(r *http.Request) string {
	if n := gate.Network(gate.RemoteIP(r)); n.IsValid() {
		return n.String()
	}
	return "unknown"
}

// Take counts an attempt at the account with the e-mail address, or returns how long to wait before the next one. browser names
// a browser in which the account has signed in before; empty for any other. While such a browser has attempts left, only its
// own counter counts.
func (t *Throttle) Take(r *http.Request, email, browser string) (*Attempt, time.Duration, error) {
	ctx := t.context(r.Context())
	account := AccountKey(email)
	counters := []ratelimit.Counter{{Key: AddressKey(r), Limit: AddressLimit}, {Key: account, Limit: AccountLimit}}
	if browser != "" {
		own := ratelimit.Counter{Key: "device/" + ratelimit.Hidden(browser), Limit: BrowserLimit}
		wait, err := ratelimit.Wait(ctx, t.store.Reader(), own)
		if err != nil {
			return nil, 0, err
		}
		if wait == 0 {
			counters = []ratelimit.Counter{own}
		}
	}
	return t.take(ctx, account, counters)
}

// TakeAnonymous is Take for a proof that does not name an account: it counts only the address.
func (t *Throttle) TakeAnonymous(r *http.Request) (*Attempt, time.Duration, error) {
	return t.take(t.context(r.Context()), "", []ratelimit.Counter{{Key: AddressKey(r), Limit: AddressLimit}})
}

func (t *Throttle) take(ctx context.Context, account string, counters []ratelimit.Counter) (*Attempt, time.Duration, error) {
	wait, err := t.count(ctx, counters...)
	if err != nil || wait > 0 {
		return nil, wait, err
	}
	return &Attempt{counters: counters, account: account}, 0, nil
}

// The purposes of text messages. Each has its own counters, so that nobody who signs in waits because of others who enrol.
const (
	ToSignIn = "sign_in"
	ToEnrol  = "enrol"
)

// Message counts a text message to a number of the account, which the caller of r has requested, or returns how long to wait
// before the next one. perDay limits the installation's messages in a day. Enrolments may take half of it, so that unknown
// callers cannot use up the messages that people need for signing in.
func (t *Throttle) Message(r *http.Request, purpose, accountID, number string, perDay int) (time.Duration, error) {
	if purpose == ToEnrol {
		perDay = max(1, perDay/2)
	}
	return t.count(t.context(r.Context()),
		ratelimit.Counter{Key: "sms/" + purpose + "/day", Limit: ratelimit.Attempts{Max: perDay, Window: 24 * time.Hour}},
		ratelimit.Counter{Key: "sms/" + purpose + "/from/" + Network(r), Limit: messagesFrom},
		ratelimit.Counter{Key: "sms/" + purpose + "/" + accountID, Limit: messageLimit},
		ratelimit.Counter{Key: "sms/" + purpose + "/to/" + ratelimit.Hidden(number), Limit: messageLimit})
}

// count reads first, so that a refused flood writes nothing.
func (t *Throttle) count(ctx context.Context, counters ...ratelimit.Counter) (wait time.Duration, err error) {
	if wait, err = ratelimit.Wait(ctx, t.store.Reader(), counters...); err != nil || wait > 0 {
		return wait, err
	}
	err = t.store.WriteOrRetry(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		wait, err = ratelimit.Count(ctx, tx, counters...)
		return err
	})
	return wait, err
}

// Mail counts a mail of a kind that the caller of r has requested. It runs send in the transaction that counts the mail, and
// tells it whether the e-mail address has already had enough mails of that kind. A network with too many requests must wait,
// and nothing is written for it. Each kind has its own counters, so that nobody waits for a password reset because of others'
// sign-ups.
func (t *Throttle) Mail(r *http.Request, kind, email string, send func(ctx context.Context, tx *store.Tx, enough bool) error) (wait time.Duration, err error) {
	ctx := t.context(r.Context())
	from := ratelimit.Counter{Key: "mail/" + kind + "/from/" + Network(r), Limit: mailsFrom}
	to := ratelimit.Counter{Key: "mail/" + kind + "/to/" + ratelimit.Hidden(email), Limit: mailsTo}
	if wait, err = ratelimit.Wait(ctx, t.store.Reader(), from); err != nil || wait > 0 {
		return wait, err
	}
	err = t.store.WriteOrRetry(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if wait, err = ratelimit.Count(ctx, tx, from); err != nil || wait > 0 {
			return err
		}
		enough, err := ratelimit.Count(ctx, tx, to)
		if err != nil {
			return err
		}
		return send(ctx, tx, enough > 0)
	})
	if err != nil {
		return 0, fmt.Errorf("ask for a mail: %w", err)
	}
	return wait, nil
}

// Of returns the attempt as one at the account with the e-mail address, once the proof has named its account.
func (a *Attempt) Of(email string) *Attempt {
	return &Attempt{counters: a.counters, account: AccountKey(email)}
}

// Proved records that the attempt succeeded: it resets the failures of the account and of the browser, and takes this attempt
// back from the address. Call it in the transaction that signs the person in, with a context that can access rows of no
// company.
func (t *Throttle) Proved(ctx context.Context, tx *store.Tx, a *Attempt) error {
	if err := t.Back(ctx, tx, a); err != nil { // first, because Take locks rows in this order
		return err
	}
	forget := []string{a.account}
	for _, c := range a.counters {
		if c.Limit == BrowserLimit {
			forget = append(forget, c.Key)
		}
	}
	return ratelimit.Forget(ctx, tx, forget...)
}

// Back takes the attempt back in a transaction and resets nothing, because only half of the proofs were given.
func (t *Throttle) Back(ctx context.Context, tx *store.Tx, a *Attempt) error {
	return ratelimit.Uncount(ctx, tx, a.counters...)
}

// Undo takes back an attempt that was not decided, because the product was too busy or failed.
func (t *Throttle) Undo(ctx context.Context, a *Attempt) error {
	return t.store.Write(t.context(ctx), func(ctx context.Context, tx *store.Tx) error { return t.Back(ctx, tx, a) })
}

// Forgive resets the failures that were counted for an e-mail address, after the person has proved by mail that the address is
// theirs.
func Forgive(ctx context.Context, tx *store.Tx, email string) error {
	return ratelimit.Forget(ctx, tx, AccountKey(email))
}

// SpendChallenge records that a challenge was answered, until it expires. Returns a unique violation if it was answered before.
func SpendChallenge(ctx context.Context, tx *store.Tx, challenge string, until time.Time) error {
	return ratelimit.Once(ctx, tx, "challenge/"+ratelimit.Hidden(challenge), until)
}

// Touch writes to the counter of an e-mail address and changes nothing, so that an address without an account takes as long as
// any other.
func Touch(ctx context.Context, tx *store.Tx, email string) error {
	_, err := tx.Throttle.Update().Where(entthrottle.ID(AccountKey(email))).AddFailures(0).Save(ctx)
	return err
}

// context returns a context that can access rows of no company.
func (t *Throttle) context(ctx context.Context) context.Context {
	return principal.System(clock.With(ctx, t.store.Clock()), "attempts are counted before anybody is anybody")
}
