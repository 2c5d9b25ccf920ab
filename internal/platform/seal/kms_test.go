package seal_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/seal"
	"atrium/internal/platform/seal/kms"
)

// A stand-in for Vault's transit engine over HTTPS.
func TestVault(t *testing.T) {
	key, _ := newFake(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		if r.Header.Get("X-Vault-Token") != "the-token" {
			http.Error(w, `{"errors":["permission denied"]}`, http.StatusForbidden)
			return
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in["associated_data"] != "" {
			http.Error(w, `{"errors":["bad request"]}`, http.StatusBadRequest)
			return
		}
		out, err := map[string]string{}, error(nil)
		switch r.URL.Path {
		case "/v1/transit/encrypt/atrium":
			plain, _ := base64.StdEncoding.DecodeString(in["plaintext"])
			var sealed []byte
			sealed, err = key.Encrypt(plain, nil)
			out["ciphertext"] = "vault:v1:" + base64.StdEncoding.EncodeToString(sealed)
		case "/v1/transit/decrypt/atrium":
			sealed, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(in["ciphertext"], "vault:v1:"))
			var plain []byte
			plain, err = key.Decrypt(sealed, nil)
			out["plaintext"] = base64.StdEncoding.EncodeToString(plain)
		default:
			http.NotFound(w, r)
			return
		}
		if err != nil {
			http.Error(w, `{"errors":["invalid ciphertext"]}`, http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": out})
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("VAULT_CACERT", ca)
	t.Setenv("VAULT_TOKEN", "the-token")
	t.Setenv("VAULT_MAX_RETRIES", "0")

	uri := strings.Replace(server.URL, "https://", "hcvault://", 1) + "/transit/keys/atrium"
	s, again := open(t, seal.Source{KMS: uri, Connect: kms.Connect}), open(t, seal.Source{KMS: uri, Connect: kms.Connect})
	opens(t, again, sealed(t, s, "value"), "value")
	opens(t, s, sealed(t, again, "value"), "value")

	t.Setenv("VAULT_ADDR", server.URL)
	opens(t, open(t, seal.Source{KMS: "hcvault:///transit/keys/atrium", Connect: kms.Connect}), sealed(t, s, "value"), "value")

	for _, wrong := range []string{"/transit/keys/other", "/transit/atrium", "/atrium"} {
		_, err := seal.Open(context.Background(), seal.Source{KMS: "hcvault://" + server.Listener.Addr().String() + wrong, Connect: kms.Connect})
		require.Error(t, err, wrong)
	}
	t.Setenv("VAULT_TOKEN", "another-token")
	_, err := seal.Open(context.Background(), seal.Source{KMS: uri, Connect: kms.Connect})
	require.ErrorContains(t, err, "permission denied")
	require.NotContains(t, err.Error(), "another-token")
}

// A stand-in for AWS KMS with its JSON protocol.
func TestAWS(t *testing.T) {
	key, _ := newFake(t)
	const arn = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			KeyID                     string `json:"KeyId"`
			Plaintext, CiphertextBlob []byte
		}
		out, err := map[string]any{"KeyId": arn}, json.NewDecoder(r.Body).Decode(&in)
		if err != nil || in.KeyID != arn {
			http.Error(w, `{"__type":"NotFoundException"}`, http.StatusBadRequest)
			return
		}
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			out["CiphertextBlob"], err = key.Encrypt(in.Plaintext, nil)
		case "TrentService.Decrypt":
			out["Plaintext"], err = key.Decrypt(in.CiphertextBlob, nil)
		}
		if err != nil {
			http.Error(w, `{"__type":"InvalidCiphertextException"}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(out)
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_KMS", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "example")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)

	source := seal.Source{KMS: "aws-kms://" + arn, Connect: kms.Connect}
	s, again := open(t, source), open(t, source)
	opens(t, again, sealed(t, s, "value"), "value")
	_, err := seal.Open(context.Background(), seal.Source{KMS: "aws-kms://" + strings.Replace(arn, "key/0", "key/1", 1), Connect: kms.Connect})
	require.ErrorContains(t, err, "NotFoundException")

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = seal.Open(ended, source)
	require.ErrorIs(t, err, context.Canceled)
}
