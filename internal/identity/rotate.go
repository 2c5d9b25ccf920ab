package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/signingkey"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const (
	// rotateAfter is how long a key signs before another one takes its place.
	rotateAfter = 90 * 24 * time.Hour

	// announced is how long a new key is shown before it signs: longer than caches keep the JWKS, so that nobody meets
	// a signature by a key that he cannot know yet.
	announced = 30 * time.Minute

	// verifiesFor is how long a key verifies after it has signed for the last time: as long as the longest token that
	// the operator may take (token create --ttl), and an hour for clocks that differ.
	verifiesFor = 8760*time.Hour + time.Hour

	// lookEvery is how often it is seen to.
	lookEvery = time.Hour
)

// signing returns the key that signs at a moment, of keys in the order of their making: the newest that has been shown
// long enough, or the first when none has. until is when another one begins to; zero when none is waiting.
func signing(keys []*ent.SigningKey, now time.Time) (signs *ent.SigningKey, until time.Time) {
	signs = keys[0]
	for _, k := range keys[1:] {
		if begins := k.CreatedAt.Add(announced); now.Before(begins) {
			return signs, begins
		}
		signs = k
	}
	return signs, time.Time{}
}

// Rotate makes a key when the newest has signed for 90 days, and retires those whose last token has ended. It does
// nothing on an installation that has not signed anything yet.
func (k *Keys) Rotate(ctx context.Context) error {
	now := k.store.Clock().Now()
	ctx = principal.System(ctx, "signing keys belong to the installation")
	keys, err := inUse(ctx, k.store.Reader())
	if err != nil || len(keys) == 0 {
		return err
	}
	due := !now.Before(keys[len(keys)-1].CreatedAt.Add(rotateAfter))
	if due {
		made, err := k.create(ctx)
		if err != nil {
			return err
		}
		keys = append(keys, made)
	}
	var over []string
	for i := range keys[:len(keys)-1] {
		if next := keys[i+1].CreatedAt.Add(announced); !now.Before(next.Add(verifiesFor)) {
			over = append(over, keys[i].ID)
		}
	}
	if len(over) > 0 {
		err = k.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			tx.AuthorityChanged()
			return tx.SigningKey.Update().Where(signingkey.IDIn(over...)).SetRetiredAt(now).Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("retire signing keys: %w", err)
		}
	}
	return nil
}

// RotateArgs is the job that keeps the signing keys young.
type RotateArgs struct{}

// Kind names the job.
func (RotateArgs) Kind() string { return "rotate_signing_keys" }

type rotator struct {
	river.WorkerDefaults[RotateArgs]
	keys *Keys
}

// Work rotates the keys.
func (r *rotator) Work(ctx context.Context, _ *river.Job[RotateArgs]) error {
	return r.keys.Rotate(ctx)
}

// Rotation is how a job queue keeps keys young.
func Rotation(keys *Keys) []jobs.Option {
	return []jobs.Option{jobs.Work(&rotator{keys: keys}), jobs.Every(lookEvery, RotateArgs{})}
}
