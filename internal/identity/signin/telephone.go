package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/identity/throttle"
	"atrium/internal/platform/locale"
)

// Codes in text messages.
const (
	smsLife  = 10 * time.Minute
	smsTries = 5
	smsPause = 30 * time.Second // between two messages
)

// errSoon is returned by sendCode shortly after another code.
var errSoon = errors.New("a code was sent a moment ago")

// waitError is how long to wait.
type waitError struct{ wait time.Duration }

func (waitError) Error() string { return "too many messages" }

// sendCode sends a new code to the number of the factor or, with a nil factor, to the number that is being enrolled. The
// row that it returns contains the code. Returns errSoon shortly after another code, and waitError after too many.
func (s *Server) sendCode(r *http.Request, row *ent.SignIn, f *ent.Factor, number string) (*ent.SignIn, error) {
	ctx, factorID, purpose := r.Context(), "", throttle.ToEnrol
	if f != nil {
		plain, err := s.sealer.Unseal(f.SecretSealed, []byte(f.ID))
		if err != nil {
			return nil, fmt.Errorf("open a telephone's number: %w", err)
		}
		factorID, number, purpose = f.ID, string(plain), throttle.ToSignIn
	}
	now := s.signIns.now()
	if sent := s.open(row).SMS; sent != nil && now.Sub(sent.SentAt) < smsPause {
		return row, errSoon
	}
	wait, err := s.throttle.Message(r, purpose, row.AccountID, number, s.smsPerDay)
	if err != nil {
		return row, err
	}
	if wait > 0 {
		return row, waitError{wait}
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return row, fmt.Errorf("draw a code: %w", err)
	}
	code := fmt.Sprintf("%06d", n)
	row, err = s.change(ctx, row, func(p *pending) error {
		if p.SMS != nil && now.Sub(p.SMS.SentAt) < smsPause {
			return errSoon
		}
		p.SMS = &sentCode{Factor: factorID, Code: code, SentAt: now}
		if f == nil {
			p.Number = number
		}
		return nil
	})
	if err != nil {
		return row, err
	}
	// The last line lets telephones offer the code on the page of that host, and only there.
	text := s.Printer(r).T(locale.Say("%s is your Atrium code. It is valid for %d minutes. Nobody will ever ask you for it.", code, int(smsLife.Minutes())))
	text += "\n\n@" + s.host + " #" + code
	if err := s.sms.Send(ctx, number, text); err != nil {
		return row, fmt.Errorf("send a code: %w", err)
	}
	return row, nil
}

// sendIfOnly sends a code at once if a telephone is the account's only factor.
func (s *Server) sendIfOnly(r *http.Request, row *ent.SignIn) error {
	if s.sms == nil {
		return nil
	}
	all, err := s.factors(r.Context(), row.AccountID)
	if err != nil || len(all) != 1 || all[0].Kind != factor.KindSms {
		return err
	}
	_, err = s.sendCode(r, row, all[0], "")
	return err
}

// matchSMS reports whether the code is the one that was sent, if belongs accepts it. Each call is an attempt; a right
// code is used up, and after five attempts no code is accepted.
func (s *Server) matchSMS(ctx context.Context, row *ent.SignIn, belongs func(*sentCode) bool, code string) (after *ent.SignIn, right bool, err error) {
	if sent := s.open(row).SMS; sent == nil || !belongs(sent) {
		return row, false, nil
	}
	after, err = s.change(ctx, row, func(p *pending) error {
		right = false
		if p.SMS == nil || !belongs(p.SMS) {
			return nil
		}
		alive := p.SMS.Tries < smsTries && s.signIns.now().Sub(p.SMS.SentAt) <= smsLife
		right = alive && subtle.ConstantTimeCompare([]byte(p.SMS.Code), []byte(code)) == 1
		if p.SMS.Tries++; right {
			p.SMS = nil
		}
		return nil
	})
	return after, right && err == nil, err
}
