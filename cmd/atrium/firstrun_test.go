package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// firstRun is first-run.json, which `company create --json` prints in the same shape.
type firstRun struct {
	BaseURL, AuthURL, CAFile string
	Company                  struct{ ID, SandboxID string }
	Owner                    struct{ Email, Password string }
	LiveKey, TestKey         string
	OAuthClient              struct{ ClientID, RedirectURI string }
	Demo                     struct{ ServiceID, OfferingID string }
}

func (p place) firstRun() firstRun {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.data, "first-run.json"))
	require.NoError(p.t, err)
	var f firstRun
	require.NoError(p.t, json.Unmarshal(b, &f))
	return f
}

// laptop returns the body of a request for the demo company's first offering.
func (f firstRun) laptop(title string) string {
	return fmt.Sprintf(`{"serviceId":%q,"offeringId":%q,"title":%q,"fields":{"model":"13 inch"}}`, f.Demo.ServiceID, f.Demo.OfferingID, title)
}

// requireFirstRun asserts that v has exactly the documented shape; demo is optional.
func requireFirstRun(t *testing.T, v map[string]any) {
	t.Helper()
	delete(v, "demo")
	requireShape(t, map[string]any{
		"baseUrl": "", "authUrl": "", "caFile": "", "liveKey": "", "testKey": "",
		"company": map[string]any{"id": "", "sandboxId": ""}, "owner": map[string]any{"email": "", "password": ""},
		"oauthClient": map[string]any{"clientId": "", "redirectUri": ""},
	}, v)
}

// requireShape asserts that got has exactly the keys of want, with values of the same JSON types. A nil in want allows any value.
func requireShape(t *testing.T, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case nil:
	case map[string]any:
		obj, ok := got.(map[string]any)
		require.True(t, ok, "%v is no object", got)
		for key := range obj {
			require.Contains(t, want, key, "an unexpected key")
		}
		for key, v := range want {
			require.Contains(t, obj, key)
			requireShape(t, v, obj[key])
		}
	default:
		require.IsType(t, want, got)
		if s, ok := want.(string); ok && s == "" {
			require.NotEmpty(t, got)
		}
	}
}
