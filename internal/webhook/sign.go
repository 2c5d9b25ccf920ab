package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// sign sets the three headers of Standard Webhooks: the event's id, which is the same on every attempt and replay; the time of
// sending; and one signature for each secret. The time is the machine's even if a development clock is set, because receivers
// compare it with their own.
func sign(h http.Header, secrets []Secret, eventID string, at time.Time, body []byte) error {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		signer, err := standardwebhooks.NewWebhook(s.Reveal())
		if err != nil {
			return fmt.Errorf("read a signing secret: %w", err)
		}
		if signatures[i], err = signer.Sign(eventID, at, body); err != nil {
			return fmt.Errorf("sign a delivery: %w", err)
		}
	}
	h.Set(standardwebhooks.HeaderWebhookID, eventID)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
