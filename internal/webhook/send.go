package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/ent"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/text"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

const (
	userAgent = "Atrium-Webhooks/1.0"
	keptBody  = 1 << 10 // bytes of an answer that the history keeps
)

// verdict is what an attempt means for its delivery.
type verdict int

const (
	succeeded    verdict = iota
	failed               // retried if the schedule allows it
	receiverGone         // 410: not retried
	disabled             // the subscription is disabled, and no call was made
	hidden               // policies hide the event's row from the subscription, and no call was made
	interrupted          // this node stops; whether the receiver got the event is unknown
)

// report is the result of an attempt.
type report struct {
	verdict verdict
	attempt Attempt
	result  string        // for metrics: a status class or a class of failure
	asked   time.Duration // by Retry-After
	took    time.Duration
}

// The errors of attempts that did not fail in the network. Each begins with a class, as in package egress.
const (
	textHidden      = "hidden: access policies hide from the subscription what the event is about, no call was made"
	textDisabled    = "disabled: the subscription is disabled, no call was made"
	textInterrupted = "interrupted: the node stopped before the end of the attempt was recorded"
)

// send makes one attempt at a delivery. An error is a failure of this node: nothing was sent.
func (d *Dispatcher) send(ctx context.Context, row *ent.WebhookDelivery) (report, error) {
	s, now := row.Edges.Subscription, d.Store.Clock().Now()
	if !s.Enabled {
		return report{verdict: disabled, result: "disabled", attempt: Attempt{At: now, Error: new(textDisabled)}}, nil
	}
	shown, err := d.Engine.EventVisible(ctx, row.Edges.Source, s.ID)
	if err != nil {
		return report{}, err
	}
	if !shown {
		return report{verdict: hidden, result: "hidden", attempt: Attempt{At: now, Error: new(textHidden)}}, nil
	}
	secrets, err := signing.Open(d.Sealer, s.ID, now, s.SecretSealed, s.PreviousSealed, s.PreviousUntil)
	if err != nil {
		return report{}, err
	}
	body, err := events.Canonical(row.Edges.Source.Payload, row.Edges.Source.Sequence)
	if err != nil {
		return report{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return report{}, fmt.Errorf("write the call: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	began := time.Now()
	if err := signing.Sign(req.Header, secrets, row.EventID, began, body); err != nil {
		return report{}, err
	}
	answer, err := d.Egress.Do(ctx, req, egress.Limits{Body: keptBody})
	r := report{took: time.Since(began), attempt: Attempt{At: now}}
	r.attempt.LatencyMs = int(r.took.Milliseconds())
	if answer.Status != 0 {
		r.attempt.StatusCode, r.attempt.ResponseBody = &answer.Status, new(kept(answer, err == nil && !answer.Truncated, secrets))
	}
	if err != nil {
		return r.withError(err), nil
	}
	r.asked = retryAfter(answer.Header, time.Now())
	return r.withStatus(answer.Status), nil
}

// withStatus sets the verdict of a complete answer.
func (r report) withStatus(status int) report {
	r.result = fmt.Sprintf("%dxx", status/100)
	switch {
	case status >= 200 && status < 300:
		r.verdict = succeeded
	case status == http.StatusGone:
		r.verdict = receiverGone
	default:
		r.verdict = failed
	}
	return r
}

// withError sets the verdict of a call without a complete answer.
func (r report) withError(err error) report {
	r.verdict, r.result = failed, "error"
	line := "error: the call could not be made"
	if e, ok := errors.AsType[*egress.Error](err); ok {
		r.result, line = string(e.Class), e.Text()
		if e.Class == egress.ClassStopped {
			r.verdict, line = interrupted, textInterrupted
		}
	}
	r.attempt.Error = &line
	return r
}

// kept returns what the history stores of an answer's body: text of at most keptBody bytes, with escapes for a body that is not in the
// charset that it names. It masks the signing secrets, which a receiver may echo.
func kept(a egress.Answer, whole bool, secrets []secret.Value) string {
	shown := text.Plain(string(a.Body))
	for cut := 0; cut <= min(len(a.Body), utf8.UTFMax-1); cut++ {
		if decoded, unreadable := text.Decode(a.Body[:len(a.Body)-cut], a.Header.Get("Content-Type")); unreadable == "" {
			shown = text.Plain(string(decoded))
			break
		}
		if whole {
			break // no character is cut
		}
	}
	for _, s := range secrets {
		shown = strings.ReplaceAll(shown, string(s), signing.Prefix+"***")
		shown = strings.ReplaceAll(shown, strings.TrimPrefix(string(s), signing.Prefix), "***")
	}
	if len(shown) <= keptBody {
		return shown
	}
	end := keptBody
	for !utf8.RuneStart(shown[end]) {
		end--
	}
	return shown[:end]
}
