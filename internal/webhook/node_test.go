package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// libraries installs the packages of testdata/node, at exactly those versions, into a temporary folder.
func libraries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/node")))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "npm ci: %s", out)
	return dir
}

// message is a delivery as a receiver's library sees it.
type message struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func messageOf(name string, key secret.Value, got receiver.Got) message {
	m := message{Name: name, Secret: string(key), Headers: map[string]string{}, Body: string(got.Body)}
	for h := range got.Header {
		m.Headers[strings.ToLower(h)] = got.Header.Get(h)
	}
	return m
}

// The libraries that receivers use accept what is delivered, under both secrets while a rotation overlaps, and nothing that was
// changed on the way.
func TestLibrariesVerifySignatures(t *testing.T) {
	t.Parallel()
	dir := libraries(t)
	w := testkit.SQLiteWorld(t)
	o := open(t, w)
	r := receiver.New(t, nil)
	s := o.subscribe(t, r.URL)
	in := o.offering(t)
	in.Title = "Grüße, \"世界\" & <friends> \u2028 💻"
	o.file(t, in)
	got := r.Await(t, 1)[0]
	messages := []message{messageOf("ok", s.SigningSecret, got)}

	rotated := testkit.Run(t, w, o.asOwner(), webhook.RotateSecret, webhook.RotateSecretInput{ByID: op.ByID{ID: s.ID}})
	o.file(t, in)
	both := r.Await(t, 2)[1]
	messages = append(messages, messageOf("ok: new secret", rotated.SigningSecret, both), messageOf("ok: old secret", s.SigningSecret, both),
		messageOf("refused: new secret on an old delivery", rotated.SigningSecret, got))

	for name, change := range map[string]func(*message){
		"refused: body":      func(m *message) { m.Body = strings.Replace(m.Body, "PENDING", "pending", 1) },
		"refused: id":        func(m *message) { m.Headers["webhook-id"] += "x" },
		"refused: signature": func(m *message) { m.Headers["webhook-signature"] = "v1," + strings.Repeat("A", 43) + "=" },
		"refused: timestamp": func(m *message) { // a second before the one that is signed
			at, err := strconv.ParseInt(m.Headers["webhook-timestamp"], 10, 64)
			require.NoError(t, err)
			m.Headers["webhook-timestamp"] = strconv.FormatInt(at-1, 10)
		},
		"refused: old": func(m *message) { m.Headers["webhook-timestamp"] = strconv.FormatInt(time.Now().Unix()-3600, 10) },
	} {
		m := messageOf(name, s.SigningSecret, got)
		change(&m)
		messages = append(messages, m)
	}
	for _, result := range verify(t, dir, messages) {
		ok := strings.HasPrefix(result.Name, "ok")
		require.Equal(t, ok, result.Standard == "ok", "%s: standardwebhooks says %s", result.Name, result.Standard)
		require.Equal(t, ok, result.Svix == "ok", "%s: svix says %s", result.Name, result.Svix)
	}
}

type verified struct {
	Name     string `json:"name"`
	Standard string `json:"standardwebhooks"`
	Svix     string `json:"svix"`
}

func verify(t *testing.T, dir string, messages []message) []verified {
	t.Helper()
	input, err := json.Marshal(messages)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "verify.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &errs)
	var results []verified
	require.NoError(t, json.Unmarshal(out, &results), "%s", out)
	require.Len(t, results, len(messages))
	return results
}

// AsyncAPI's own schema accepts the document.
func TestAsyncAPIAcceptsTheDocument(t *testing.T) {
	t.Parallel()
	dir := libraries(t)
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", "@asyncapi", "specs", "schemas", "3.0.0.json"))
	require.NoError(t, err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("asyncapi-3.0.0.json", schema))
	compiled, err := c.Compile("asyncapi-3.0.0.json")
	require.NoError(t, err)
	raw, err = webhook.AsyncAPI("https://atrium.example")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(doc))
	doc.(map[string]any)["channels"] = "none"
	require.Error(t, compiled.Validate(doc))
}
