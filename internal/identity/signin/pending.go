package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"atrium/ent"
	"atrium/ent/signin"
	"atrium/internal/op"
	"atrium/internal/platform/store"
)

// pending is a sign-in's data between pages, sealed in its row.
type pending struct {
	For    string `json:"for,omitempty"`    // the goal (goal.key) that Stay and User belong to
	Stay   bool   `json:"stay,omitempty"`   // the person chose to continue with the account
	User   string `json:"user,omitempty"`   // the membership that was chosen
	Secret string `json:"secret,omitempty"` // of an authenticator app that is being enrolled, in base32

	Number  string                `json:"number,omitempty"` // telephone that is being enrolled
	SMS     *sentCode             `json:"sms,omitempty"`
	Passkey *webauthn.SessionData `json:"passkey,omitempty"` // the challenge for a passkey
	Until   time.Time             `json:"until,omitzero"`    // of the challenge

	Codes []string `json:"codes,omitempty"` // recovery codes that the person has not confirmed having saved
}

// sentCode is a code that was sent to a telephone.
type sentCode struct {
	Factor string    `json:"factor,omitempty"` // the factor whose number it went to; empty for a number that is being enrolled
	Code   string    `json:"code"`
	SentAt time.Time `json:"sentAt"`
	Tries  int       `json:"tries"`
}

// of returns the data for the goal, without choices that were made for another goal.
func (p *pending) of(key string) *pending {
	if p.For == key {
		return p
	}
	return &pending{For: key, Secret: p.Secret, Number: p.Number, SMS: p.SMS, Passkey: p.Passkey, Until: p.Until, Codes: p.Codes}
}

func pendingAAD(id string) []byte { return []byte("sign-in/pending/" + id) }

// open returns the sign-in's data. Data that cannot be opened any more are dropped, and the person repeats the step.
func (s *Server) open(row *ent.SignIn) *pending {
	if row.Pending == nil {
		return &pending{}
	}
	var p pending
	plain, err := s.sealer.Unseal(row.Pending, pendingAAD(row.ID))
	if err == nil {
		err = json.Unmarshal(plain, &p)
	}
	if err != nil {
		s.log.Warn("what a sign-in remembered cannot be read", "signIn", row.ID, "error", err)
		return &pending{}
	}
	return &p
}

func sealPending(sealer op.Sealer, id string, p *pending) ([]byte, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("write what the sign-in remembers: %w", err)
	}
	sealed, err := sealer.Seal(plain, pendingAAD(id))
	if err != nil {
		return nil, fmt.Errorf("seal what the sign-in remembers: %w", err)
	}
	return sealed, nil
}

// maxRaces limits the attempts at a change that other requests were faster with.
const maxRaces = 8

// change alters the sign-in's data atomically: of two concurrent requests, the second sees the change of the first.
// Returns the row as it is afterwards; errMoved when the sign-in has ended, or alter's error, which changes nothing.
func (s *Server) change(ctx context.Context, row *ent.SignIn, alter func(*pending) error) (*ent.SignIn, error) {
	for range maxRaces {
		p := s.open(row)
		if err := alter(p); err != nil {
			return row, err
		}
		after, n := *row, 0
		var err error
		if after.Pending, err = sealPending(s.sealer, row.ID, p); err != nil {
			return nil, err
		}
		same := signin.PendingIsNil()
		if row.Pending != nil {
			same = signin.Pending(row.Pending)
		}
		err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
			n, err = tx.SignIn.Update().Where(signin.ID(row.ID), same, signin.EndedAtIsNil()).SetPending(after.Pending).Save(ctx)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("keep what the sign-in remembers: %w", err)
		}
		if n == 1 {
			return &after, nil
		}
		if row, err = s.signIns.reload(ctx, row.ID); err != nil {
			return nil, err
		}
	}
	return nil, errMoved
}
