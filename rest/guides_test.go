package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/internal/workflow/definition"
)

// The parser and the schema in the document accept every example of the definition language; every phase type has a section.
func TestGuidesToDefinitions(t *testing.T) {
	t.Parallel()
	g, err := newGuides(exampleURL, exampleURL)
	require.NoError(t, err)
	b, _ := readDocument(t)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("https://atrium.invalid/openapi.json", document))
	schema, err := c.Compile("https://atrium.invalid/openapi.json" + refPrefix + definitionSchema)
	require.NoError(t, err)
	check := func(name string, raw []byte) {
		_, rows := definition.Parse(raw)
		require.Empty(t, rows, name)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(v), name)
	}
	check("the whole one", []byte(g.Definition))
	var told []string
	for _, p := range g.Phases {
		told = append(told, p.Type)
		if len(p.Keys) == 0 {
			continue
		}
		var piece struct{ Phases, Transitions []map[string]any }
		require.NoError(t, json.Unmarshal(p.Example, &piece), p.Type)
		shown := false
		for _, one := range piece.Phases {
			shown = shown || one["type"] == p.Type
		}
		require.True(t, shown, p.Type)
		piece.Transitions = append(piece.Transitions, map[string]any{"from": "start", "name": "next", "to": piece.Phases[0]["id"]})
		piece.Phases = append(piece.Phases, map[string]any{"id": "start", "type": "START"}, map[string]any{"id": "end", "type": "END"})
		raw, err := json.Marshal(map[string]any{"phases": piece.Phases, "transitions": piece.Transitions})
		require.NoError(t, err)
		check(p.Type, raw)
		for _, key := range p.Keys {
			require.Contains(t, string(definition.Schema()), `"`+key[0]+`"`, "%s has no such key", p.Type)
		}
	}
	require.Equal(t, []string{"START", "PROCESS", "DECISION", "DATA", "TIMER", "WEBHOOK_CALLOUT", "API_CALL", "APPROVAL", "CALL_WORKFLOW", "PARALLEL", "FOR_EACH", "JOIN", "END"}, told)
}

// What the guides say of scopes and roles agrees with the route table and the policies.
func TestGuidesToRights(t *testing.T) {
	t.Parallel()
	g, err := newGuides(exampleURL, exampleURL)
	require.NoError(t, err)
	opened := 0
	for _, s := range g.Scopes {
		opened += len(s.Opens)
	}
	require.Equal(t, len(routes), opened)
	require.Contains(t, g.Roles, guideRole{"request", "create; cancel, rate, read, reopen, watch (own)", "accept, cancel, complete, create, read, reopen, update, watch; rate (own)"})
	require.Contains(t, g.Admin, "billing.change")
	require.NotContains(t, g.Admin, "company.create", "no owner may either")
}

// verifierMains call the example of each language with what a receiver has, and print the result.
var verifierMains = map[string]struct {
	file, after string
	command     []string
}{
	"Python": {"verify.py", `
import sys
a = sys.argv
print(str(verify(a[1], {"webhook-id": a[2], "webhook-timestamp": a[3], "webhook-signature": a[4]}, a[5].encode())).lower())`,
		[]string{"python3", "verify.py"}},
	"Node": {"verify.mjs", `
const [secret, id, at, signature, body] = process.argv.slice(2);
console.log(verify(secret, { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature }, Buffer.from(body)));`,
		[]string{"node", "verify.mjs"}},
	"Go": {"verify.go", `
func main() {
	h := http.Header{}
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		h.Set(name, os.Args[i+2])
	}
	fmt.Println(verify(os.Args[1], h, []byte(os.Args[5])))
}`, []string{"go", "run", "verify.go"}},
	"Java": {"Verify.java", `
class Main {
    public static void main(String[] a) throws Exception {
        System.out.println(Webhooks.verify(a[0], Map.of("webhook-id", a[1], "webhook-timestamp", a[2], "webhook-signature", a[3]), a[4].getBytes()));
    }
}`, []string{"java", "-cp", ".", "Main"}},
}

// The examples of verification accept what the product signs, and nothing else.
func TestVerificationExamples(t *testing.T) {
	t.Parallel()
	g, err := newGuides(exampleURL, exampleURL)
	require.NoError(t, err)
	require.Len(t, g.Verify, 4)
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, or so"))
	signer, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	body := `{"event":"request.created","data":{"title":"Ünïcode"}}`
	sign := func(at time.Time) (string, string) {
		signature, err := signer.Sign("evt_1", at, []byte(body))
		require.NoError(t, err)
		return strconv.FormatInt(at.Unix(), 10), signature
	}
	now, signature := sign(time.Now())
	old, oldSignature := sign(time.Now().Add(-time.Hour))
	for _, example := range g.Verify {
		t.Run(example.Language, func(t *testing.T) {
			t.Parallel()
			m, dir := verifierMains[example.Language], t.TempDir()
			code := example.Code + m.after
			if example.Language == "Go" {
				code = strings.Replace(code, "\t\"encoding/base64\"", "\t\"encoding/base64\"\n\t\"fmt\"\n\t\"os\"", 1)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, m.file), []byte(code), 0o600))
			if example.Language == "Java" {
				compile := exec.CommandContext(t.Context(), "javac", m.file)
				compile.Dir = dir
				out, err := compile.CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			for _, c := range []struct {
				at, signature, body string
				want                bool
			}{
				{now, signature, body, true},
				{now, "v1,AAAA " + signature, body, true}, // there are two while a secret is being rotated
				{now, signature, body + " ", false},
				{now, "v1,AAAA", body, false},
				{now, oldSignature, body, false},
				{old, oldSignature, body, false},
			} {
				cmd := exec.CommandContext(t.Context(), m.command[0], append(m.command[1:], secret, "evt_1", c.at, c.signature, c.body)...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.Equal(t, fmt.Sprint(c.want), strings.TrimSpace(string(out)), "%+v", c)
			}
		})
	}
}

// sample returns a code block of the page by its id, as a reader copies it.
func sample(t *testing.T, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<pre[^>]* id="` + id + `"><code>(.*?)</code>`).FindStringSubmatch(page)
	require.NotNil(t, m, id)
	return html.UnescapeString(m[1])
}

// The commands of the guide to signing in compute the challenge of the verifier that is sent with the code.
func TestGuideToSigningIn(t *testing.T) {
	t.Parallel()
	page, err := newDocument("", "https://id.example").reference()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", sample(t, string(page), "sample-authorize")+"\necho $VERIFIER")
	cmd.Env = append(os.Environ(), "CLIENT_ID=cli_1", "REDIRECT_URI=https://app.example/cb", "STATE=s")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	address, verifier, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	require.Regexp(t, `^[A-Za-z0-9_-]{43,128}$`, verifier)
	sum := sha256.Sum256([]byte(verifier))
	require.Contains(t, address, "https://id.example/oauth2/authorize?")
	require.Contains(t, address, "code_challenge="+base64.RawURLEncoding.EncodeToString(sum[:])+"&")

	page, err = newDocument("", "").reference()
	require.NoError(t, err)
	require.NotContains(t, string(page), "/oauth2/authorize", "tokens are another issuer's")
}
