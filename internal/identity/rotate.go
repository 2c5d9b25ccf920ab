package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/signingkey"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	// rotateAfter is how long a key signs before it is replaced.
	rotateAfter = 90 * 24 * time.Hour

	// announced is how long a new key is published before it signs. It is longer than caches keep the JWKS, so that
	// every client can know the key of a signature.
	announced = 30 * time.Minute

	// verifiesFor is how long a key verifies after its last signature: the longest life of a token, and an hour for differing clocks.
	verifiesFor = MaxTokenLife + time.Hour

	// lookEvery is how often the job checks the keys.
	lookEvery = time.Hour
)

// signing returns the key that signs at a moment, from keys ordered by creation: the newest that was published long
// enough, or the first if there is none. until is when the next key starts to sign; zero if none is waiting.
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

// Rotate creates a key when the newest has signed for 90 days, and retires keys whose last token has ended. It does
// nothing in an installation that has not signed anything yet.
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

// RotateArgs is the job that rotates the signing keys.
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

// Rotation makes a job queue rotate the keys.
func Rotation(keys *Keys) []jobs.Option {
	return []jobs.Option{jobs.Work(&rotator{keys: keys}), jobs.Every(lookEvery, RotateArgs{})}
}
