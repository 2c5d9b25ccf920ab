package mfa_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/mfa"
)

const number = "+4915123456789"

// HTTPSMS posts the message as JSON with the token. When the provider does not accept it, the error contains neither.
func TestHTTPSMS(t *testing.T) {
	t.Parallel()
	var body, auth string
	status := http.StatusAccepted
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, auth = string(b), r.Header.Get("Authorization")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer srv.Close()
	sms, err := mfa.NewHTTPSMS(srv.URL+"/send", "token")
	require.NoError(t, err)
	defer sms.Close()
	require.NoError(t, sms.Send(t.Context(), number, "hello"))
	require.JSONEq(t, `{"to": "+4915123456789", "text": "hello"}`, body)
	require.Equal(t, "Bearer token", auth)
	for _, status = range []int{http.StatusFound, http.StatusBadRequest, http.StatusInternalServerError} {
		err := sms.Send(t.Context(), number, "hello")
		require.ErrorContains(t, err, strconv.Itoa(status))
		require.NotContains(t, err.Error(), "hello")
	}
	srv.Close()
	require.Error(t, sms.Send(t.Context(), number, "hello"))

	for _, bad := range []string{"", "http://sms.test/", "ftp://sms.test/", "https://", "https://user:pw@sms.test/"} {
		_, err := mfa.NewHTTPSMS(bad, "")
		require.Error(t, err, bad)
	}
}

func TestConsoleSMS(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, mfa.ConsoleSMS{Log: slog.New(slog.NewTextHandler(&out, nil))}.Send(t.Context(), number, "123456 is your code"))
	require.Contains(t, out.String(), "123456 is your code")
}
