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
	"atrium/internal/egress"
	"atrium/internal/events"
)

const (
	userAgent = "Atrium-Webhooks/1.0"
	keptBody  = 1 << 10 // bytes of an answer that the history keeps
)

// verdict is what an attempt means for its delivery.
type verdict int

const (
	succeeded    verdict = iota
	failed               // to be attempted again, if the schedule has it
	receiverGone         // 410: never again
	disabled             // the subscription was, and no call was made
	concealed            // policies hide from the subscription what the event is about, and no call was made
	interrupted          // this node stops: nobody knows what the receiver got
)

// report is an attempt that has ended.
type report struct {
	verdict verdict
	attempt Attempt
	result  string        // for metrics: a status class or a class of failure
	asked   time.Duration // Retry-After
	took    time.Duration
}

// The texts of attempts without an answer that are not the network's doing. A class comes first, as in package egress.
const (
	textHidden      = "hidden: access policies hide from the subscription what the event is about, no call was made"
	textDisabled    = "disabled: the subscription is disabled, no call was made"
	textInterrupted = "interrupted: the node stopped before the end of the attempt was recorded"
)

// send makes one attempt at a delivery. An error is this node's own: nothing was sent.
func (d *Dispatcher) send(ctx context.Context, row *ent.WebhookDelivery) (report, error) {
	s, now := row.Edges.Subscription, d.Store.Clock().Now()
	if !s.Enabled {
		return report{verdict: disabled, result: "disabled", attempt: Attempt{At: now, Error: new(textDisabled)}}, nil
	}
	shown, err := d.Engine.Hears(ctx, row.Edges.Source, s.ID)
	if err != nil {
		return report{}, err
	}
	if !shown {
		return report{verdict: concealed, result: "hidden", attempt: Attempt{At: now, Error: new(textHidden)}}, nil
	}
	secrets, err := openSecrets(d.Sealer, s, now)
	if err != nil {
		return report{}, err
	}
	body, err := events.Canonical(row.Edges.Source.Payload)
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
	if err := sign(req.Header, secrets, row.EventID, began, body); err != nil {
		return report{}, err
	}
	answer, err := d.Egress.Do(ctx, req, egress.Limits{Body: keptBody})
	r := report{took: time.Since(began), attempt: Attempt{At: now}}
	r.attempt.LatencyMs = int(r.took.Milliseconds())
	if answer.Status != 0 {
		r.attempt.StatusCode, r.attempt.ResponseBody = &answer.Status, new(kept(answer.Body, secrets))
	}
	if err != nil {
		return r.broken(err), nil
	}
	r.asked = retryAfter(answer.Header, time.Now())
	return r.answered(answer.Status), nil
}

// answered judges a whole answer.
func (r report) answered(status int) report {
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

// broken judges a call without a whole answer.
func (r report) broken(err error) report {
	r.verdict, r.result = failed, "error"
	text := "error: the call could not be made"
	if e, ok := errors.AsType[*egress.Error](err); ok {
		r.result, text = string(e.Class), e.Text()
		if e.Class == egress.ClassStopped {
			r.verdict, text = interrupted, textInterrupted
		}
	}
	r.attempt.Error = &text
	return r
}

// kept returns what the history keeps of an answer's body: valid text that fits any database, in which a receiver that
// echoes a signing secret does not make it readable.
func kept(body []byte, secrets []Secret) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\x00", "\uFFFD")
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s.Reveal(), secretPrefix+"***")
		text = strings.ReplaceAll(text, strings.TrimPrefix(s.Reveal(), secretPrefix), "***")
	}
	if len(text) <= keptBody {
		return text
	}
	end := keptBody
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
