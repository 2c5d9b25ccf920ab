package mfa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"atrium/internal/platform/egress"
)

// SMS sends text messages. Implementations have a timeout.
type SMS interface {
	// Send delivers text to a number in E.164 form ("+15551234567"). An error means that it was not accepted. The error must
	// not contain the text, which is a secret.
	Send(ctx context.Context, number, text string) error
}

// HTTPSMS sends messages through any HTTP provider: it posts {"to": number, "text": text} as JSON to one address. An answer
// from 200 to 299 means accepted. Redirects are not followed.
type HTTPSMS struct {
	url, token string
	client     *http.Client
}

const smsTimeout = 10 * time.Second

// NewHTTPSMS returns a sender for the provider at address, which must be https, or http on a loopback address. A token, unless
// empty, is sent as a bearer token.
func NewHTTPSMS(address, token string) (*HTTPSMS, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !egress.IsLoopback(u.Hostname())) {
		return nil, errors.New("the SMS provider's address must be https")
	}
	return &HTTPSMS{url: address, token: token, client: &http.Client{
		Timeout:       smsTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes the idle connections to the provider.
func (h *HTTPSMS) Close() { h.client.CloseIdleConnections() }

// Send posts the message.
func (h *HTTPSMS) Send(ctx context.Context, number, text string) error {
	body, err := json.Marshal(struct {
		To   string `json:"to"`
		Text string `json:"text"`
	}{number, text})
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call the SMS provider: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	res, err := h.client.Do(req)
	if err != nil {
		return fmt.Errorf("call the SMS provider: %w", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // lets the connection be reused
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the SMS provider answered %d", res.StatusCode)
	}
	return nil
}

// ConsoleSMS writes messages to the log instead of sending them. It is for development only, because messages contain codes.
type ConsoleSMS struct{ Log *slog.Logger }

// Send logs the message.
func (c ConsoleSMS) Send(ctx context.Context, number, text string) error {
	c.Log.InfoContext(ctx, "text message", "to", number, "text", text)
	return nil
}
