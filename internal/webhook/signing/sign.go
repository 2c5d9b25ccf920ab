package signing

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"atrium/internal/secret"
)

// Sign sets the three headers of Standard Webhooks: the message's id, which is the same whenever it is sent again; the time of
// sending; and one signature for each secret. Pass the machine's time even if a development clock is set, because receivers
// compare it with their own.
func Sign(h http.Header, secrets []secret.Value, id string, at time.Time, body []byte) error {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		signer, err := standardwebhooks.NewWebhook(string(s))
		if err != nil {
			return fmt.Errorf("read a signing secret: %w", err)
		}
		if signatures[i], err = signer.Sign(id, at, body); err != nil {
			return fmt.Errorf("sign a message: %w", err)
		}
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
