package mfa

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/op"
	"atrium/internal/platform/store"
)

// TOTP with the parameters that all authenticator apps support: RFC 6238 with SHA-1, 6 digits, steps of 30 s. One step of clock
// drift is accepted either way.
const (
	totpPeriod = 30 * time.Second
	totpSecret = 20 // bytes
	totpDrift  = 1  // steps
	qrSize     = 384
)

// issuer is the name that authenticator apps show.
const issuer = "Atrium"

// secretCoding is the encoding of secrets: base32 without padding.
var secretCoding = base32.StdEncoding.WithPadding(base32.NoPadding)

var totpOptions = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// NewSecret returns a new secret for an authenticator app, in base32.
func NewSecret() (string, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: "x", SecretSize: totpSecret})
	if err != nil {
		return "", fmt.Errorf("make an authenticator's secret: %w", err)
	}
	return key.Secret(), nil
}

// Authenticator holds the forms in which a person can enrol a secret in an app.
type Authenticator struct {
	URI    string       // otpauth://totp/…
	Secret string       // in groups of four characters, for typing
	QR     template.URL // a PNG
}

// AuthenticatorOf returns the forms in which the secret can be enrolled for the account.
func AuthenticatorOf(secret, email string) (*Authenticator, error) {
	raw, err := secretCoding.DecodeString(secret)
	if err != nil {
		return nil, fmt.Errorf("read an authenticator's secret: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: email, Secret: raw})
	if err != nil {
		return nil, fmt.Errorf("write an authenticator's address: %w", err)
	}
	img, err := key.Image(qrSize, qrSize)
	if err != nil {
		return nil, fmt.Errorf("draw the QR code: %w", err)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, fmt.Errorf("draw the QR code: %w", err)
	}
	qr := template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(buf.Bytes())) // generated here, so it needs no escaping
	return &Authenticator{URI: key.URL(), Secret: grouped(secret), QR: qr}, nil
}

// grouped inserts a space after every fourth character.
func grouped(text string) string {
	var b bytes.Buffer
	for i := range len(text) {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Match returns the time step that the code belongs to; 0 when it matches no step near one of the times. times are the moments
// that the authenticator's clock may show.
func Match(secret, code string, times []time.Time) int64 {
	for _, now := range times {
		step := now.Unix() / int64(totpPeriod/time.Second)
		for d := int64(-totpDrift); d <= totpDrift; d++ {
			ok, err := hotp.ValidateCustom(code, uint64(step+d), secret, totpOptions) // times are after 1970
			if err == nil && ok {
				return step + d
			}
		}
	}
	return 0
}

// UsedTOTP is a valid code of an authenticator app, not yet spent.
type UsedTOTP struct {
	factor *ent.Factor
	step   int64
}

// FindTOTP finds the authenticator among an account's factors that the code is from. Returns nil when there is none, or when
// the code's time step was used before. It does not mark the code as used.
func FindTOTP(all []*ent.Factor, code string, sealer op.Sealer, times []time.Time) (*UsedTOTP, error) {
	for _, f := range OfKind(all, factor.KindTotp) {
		secret, err := sealer.Unseal(f.SecretSealed, []byte(f.ID))
		if err != nil {
			return nil, fmt.Errorf("open an authenticator's secret: %w", err)
		}
		if step := Match(string(secret), code, times); step > f.LastStep {
			return &UsedTOTP{f, step}, nil
		}
	}
	return nil, nil
}

// Spend marks the code's time step and all earlier ones as used, and reports whether the step was still unused. Of two
// concurrent calls with the same code, one gets true.
func (used *UsedTOTP) Spend(ctx context.Context, tx *store.Tx, now time.Time) (bool, error) {
	n, err := tx.Factor.Update().Where(factor.ID(used.factor.ID), factor.LastStepLT(used.step)).
		SetLastStep(used.step).SetLastUsedAt(now).Save(ctx)
	if err != nil {
		return false, fmt.Errorf("use the code up: %w", err)
	}
	return n == 1, nil
}
