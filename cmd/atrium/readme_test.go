package main_test

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// guides are the README and the pages that it links, whose code blocks are tried.
var guides = []string{
	"README.md", "rest/guides/workflows.md", "rest/guides/files.md", "rest/guides/mail.md", "rest/guides/many-requests.md", "rest/guides/service-levels.md", "rest/guides/agents.md", "rest/guides/mcp.md",
	"rest/guides/sign-in.md", "rest/guides/policies.md",
	"rest/guides/webhooks.md", "rest/guides/operators.md",
}

// allSnippets returns the code blocks of the guides, in order.
func allSnippets(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, page := range guides {
		out = append(out, snippets(t, page)...)
	}
	return out
}

// The README links every guide, and every link of a guide to a file of the repository leads somewhere.
func TestGuidesAreLinked(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../rest/guides/*.md")
	require.NoError(t, err)
	require.Len(t, pages, len(guides)-1, "a page that nobody tries")
	linked := map[string]bool{}
	for _, page := range guides {
		text, err := os.ReadFile("../../" + page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`).FindAllStringSubmatch(string(text), -1) {
			to := path.Join(path.Dir(page), m[1])
			require.FileExists(t, "../../"+to, page)
			linked[to] = true
		}
	}
	for _, page := range guides[1:] {
		require.Contains(t, linked, page)
	}
}

// snippets returns the code blocks of a page, in order.
func snippets(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	require.NoError(t, err)
	parts := strings.Split(string(text), "```")
	require.Equal(t, 1, len(parts)%2, "a block does not end")
	var out []string
	for i := 1; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return out
}

// readme runs the guides' code blocks on a server with the demo company.
type readme struct {
	*node
	first firstRun
	root  string // a folder whose data folder is the server's
}

// readmeRunners define how each code block of the guides is tested, by its beginning. Every block must have one.
var readmeRunners = []struct {
	begins string
	try    func(t *testing.T, r *readme, block string)
}{
	{"\nmake run", tryMake},
	{"sh\n", func(*testing.T, *readme, string) {}}, // tested by TestReadmeProcess
	{"\ncd data", tryTour},
	{"json\n{\"error\"", tryRefusal},
	{"json\n{\"sla\"", tryServiceLevels},
	{"\nBODY=", tryInbound},
	{"\nCURL=", func(t *testing.T, r *readme, block string) {
		out := r.bash(t, "KEY="+r.first.LiveKey+"\n"+block)
		require.Contains(t, out, `"status":"READY"`)
		require.True(t, strings.HasSuffix(out, "The fan is loud.\nfan"), out)
	}},
	{"\nAPI=", func(t *testing.T, r *readme, block string) { // each of its lines looks for what must come
		r.bash(t, "KEY="+r.first.LiveKey+"\n"+block)
	}},
	{"yaml\nkind: Pack", func(t *testing.T, r *readme, block string) {
		in, err := json.Marshal(map[string]string{"source": strings.TrimPrefix(block, "yaml\n"), "language": "de"})
		require.NoError(t, err)
		require.Contains(t, r.call(r.client(), 200, "POST", "/v1/packs/plan", r.first.LiveKey, string(in)).body, `"name":"Haustechnik"`)
	}},
	{"\nWHEN=", func(t *testing.T, r *readme, block string) {
		out := r.bash(t, "KEY="+r.first.LiveKey+"\n"+block)
		require.Contains(t, out, `"requestId":"req_`)
	}},
	{"\nTABLE=", func(t *testing.T, r *readme, block string) {
		out := r.bash(t, "KEY="+r.first.LiveKey+"\n"+block)
		require.Contains(t, out, `"Too loud"`)
	}},
	{"\nGQL()", func(t *testing.T, r *readme, block string) {
		out := r.bash(t, block)
		require.Contains(t, out, `"field":"teamId"`)
		require.Contains(t, out, `"status":"APPLIED"`)
	}},
	{"\nbin/atrium serve --data data --model-url", func(t *testing.T, r *readme, block string) { // all blocks share one server, so this one is only compared
		require.Equal(t, "bin/atrium serve --data data --model-url http://127.0.0.1:11434/v1 --model qwen3", strings.TrimSpace(block))
	}},
	{"graphql\nmutation { updateAgent", tryModel},
	{"\nclaude mcp add", func(t *testing.T, _ *readme, block string) { require.Contains(t, block, "--transport http") }}, // the following blocks call its address
	{"json\n{\n  \"inputs\"", func(t *testing.T, _ *readme, block string) {
		require.True(t, json.Valid([]byte(strings.TrimPrefix(block, "json"))))
	}},
	{"js\nimport { Client }", func(*testing.T, *readme, string) {}}, // tested by TestReadmeMCP
	{"\ncurl -s --cacert data/ca.pem https://127.0.0.1:8443/mcp", func(t *testing.T, r *readme, block string) {
		require.Contains(t, r.bash(t, block), `Laptop for the new colleague`)
	}},
	{"js\nimport * as oauth", func(*testing.T, *readme, string) {}}, // tested by TestReadmeRecipe
	{"\nNODE_EXTRA_CA_CERTS", func(t *testing.T, r *readme, block string) { // its first line is tested by TestReadmeRecipe
		require.Contains(t, r.bash(t, strings.SplitN(block, "\n", 3)[2]), `"pagination"`)
	}},
	{"\ncurl --cacert", func(t *testing.T, r *readme, block string) {
		out := r.bash(t, block)
		require.Contains(t, out, `{"data":`)
		require.NotContains(t, out, `"errors"`)
	}},
	{"\ncurl -N", tryStream},
	{"\natrium serve", tryUsage},
	{"go\n// internal", tryGo},
}

// Every code block of the README and of the guides does what it says.
func TestReadmeSnippets(t *testing.T) {
	t.Parallel()
	n := onSQLite(t).serve("--model-url", aModel(t)+"/v1", "--model", "qwen3")
	r := &readme{node: n, first: n.firstRun(), root: filepath.Dir(n.data)}
	tried := map[string]bool{}
	for _, block := range allSnippets(t) {
		i := slices.IndexFunc(readmeRunners, func(k struct {
			begins string
			try    func(t *testing.T, r *readme, block string)
		}) bool {
			return strings.HasPrefix(block, k.begins)
		})
		require.GreaterOrEqual(t, i, 0, "nothing tries this block:\n%s", block)
		readmeRunners[i].try(t, r, block)
		tried[readmeRunners[i].begins] = true
	}
	require.Len(t, tried, len(readmeRunners), "a block that was tried has gone")

	// The samples of the server's documentation page.
	page := n.call(n.client(), 200, "GET", "/docs", "", "").body
	sample := func(id string) string {
		m := regexp.MustCompile(`(?s)<pre[^>]* id="` + id + `"><code>(.*?)</code>`).FindStringSubmatch(page)
		require.NotNil(t, m, id)
		return "export CURL_CA_BUNDLE=data/ca.pem ATRIUM_API_KEY=" + r.first.LiveKey + " CODE=x VERIFIER=x CLIENT_ID=" + r.first.OAuthClient.ClientID +
			" REDIRECT_URI=" + r.first.OAuthClient.RedirectURI + "\n" + html.UnescapeString(m[1])
	}
	require.Contains(t, r.bash(t, sample("sample-graphql")), `"title":"Laptop for the new colleague"`)
	require.Contains(t, r.bash(t, sample("sample-token")), `"error":"invalid_grant"`)
}

// bash runs commands as printed, except for the server's address and placeholder credentials.
func (r *readme) bash(t *testing.T, commands string) string {
	t.Helper()
	commands = strings.NewReplacer("https://127.0.0.1:8443", r.base, "Bearer TOKEN", "Bearer "+r.token(r.first.Company.ID, r.first.Owner.Email),
		"x-api-key: KEY", "x-api-key: "+r.first.LiveKey).Replace(commands)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir = r.root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", commands, out)
	return string(out)
}

// tryMake checks that the make targets exist.
func tryMake(t *testing.T, _ *readme, block string) {
	for line := range strings.Lines(strings.TrimSpace(block)) {
		target := strings.Fields(line)[1]
		out, err := exec.CommandContext(t.Context(), "make", "-n", "-C", "../..", target).CombinedOutput()
		require.NoError(t, err, "%s: %s", target, out)
	}
}

// tryTour runs the tour, with a pending request.
func tryTour(t *testing.T, r *readme, block string) {
	waiting := r.call(r.client(), 200, "GET", "/v1/requests?status=PENDING", r.first.LiveKey, "").body
	id := regexp.MustCompile(`req_[0-9a-z]{26}`).FindString(waiting)
	require.NotEmpty(t, id)
	out := r.bash(t, strings.ReplaceAll(block, "req_…", id))
	for _, shown := range []string{`"name":"IT Support"`, `"status":"PENDING"`, `"status":"IN_PROGRESS"`, `"action":"request.accepted"`} {
		require.Contains(t, out, shown)
	}
	require.NotContains(t, out, `{"error"`)
}

// tryRefusal triggers the error that is shown.
func tryRefusal(t *testing.T, r *readme, block string) {
	body, err := json.Marshal(map[string]any{"serviceId": r.first.Demo.ServiceID, "offeringId": r.first.Demo.OfferingID, "title": "A laptop", "fields": map[string]any{}})
	require.NoError(t, err)
	require.JSONEq(t, strings.TrimPrefix(block, "json"), r.call(r.client(), 400, "POST", "/v1/requests", r.first.LiveKey, string(body)).body)
}

// tryServiceLevels gives the demo company's offering the service levels shown, which then apply to a new request.
func tryServiceLevels(t *testing.T, r *readme, block string) {
	r.call(r.client(), 200, "PATCH", "/v1/offerings/"+r.first.Demo.OfferingID, r.first.LiveKey, strings.TrimPrefix(block, "json"))
	body, err := json.Marshal(map[string]any{
		"serviceId": r.first.Demo.ServiceID, "offeringId": r.first.Demo.OfferingID, "title": "A laptop", "priority": "URGENT", "fields": map[string]any{"model": "14 inch"},
	})
	require.NoError(t, err)
	filed := r.call(r.client(), 201, "POST", "/v1/requests", r.first.LiveKey, string(body)).body
	require.Contains(t, filed, `"state":"ON_TRACK"`)
	require.Contains(t, filed, `"responseDueAt":"`)
	require.Contains(t, r.call(r.client(), 200, "GET", "/v1/requests?slaState=ON_TRACK&sort=resolutionDueAt", r.first.LiveKey, "").body, `"title":"A laptop"`)
}

// tryInbound creates an inbound webhook and calls it as shown. The last line of the block is the answer.
func tryInbound(t *testing.T, r *readme, block string) {
	var list struct{ Data []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(r.call(r.client(), 200, "GET", "/v1/workflows?status=active", r.first.LiveKey, "").body), &list))
	body, err := json.Marshal(map[string]any{
		"query":     `mutation($id: ID!) { createInboundWebhook(input: {name: "Monitor", workflowId: $id}) { inboundWebhook { url } signingSecret } }`,
		"variables": map[string]any{"id": list.Data[0].ID},
	})
	require.NoError(t, err)
	var made struct {
		Data struct {
			CreateInboundWebhook struct {
				InboundWebhook struct{ URL string }
				SigningSecret  string
			}
		}
	}
	answer := r.call(r.client(), 200, "POST", "/graphql", r.token(r.first.Company.ID, r.first.Owner.Email), string(body)).body
	require.NoError(t, json.Unmarshal([]byte(answer), &made), answer)
	w := made.Data.CreateInboundWebhook
	commands, _, _ := strings.Cut(block, `{"status"`)
	out := r.bash(t, "URL="+w.InboundWebhook.URL+" SIGNING_SECRET="+w.SigningSecret+"\n"+commands)
	require.Regexp(t, `"status":"accepted","webhookId":"whi_\w+","executionId":"exe_\w+"`, out)
}

// tryStream listens to a stream while a request is created.
func tryStream(t *testing.T, r *readme, block string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "exec "+strings.NewReplacer("https://127.0.0.1:8443", r.base, "KEY", r.first.LiveKey).Replace(strings.TrimSpace(block)))
	cmd.Dir = r.root
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	seen := ""
	for buffer := make([]byte, 4096); !strings.Contains(seen, `"title":"Watched"`); {
		if seen != "" { // the stream is open: it reports changes from now on
			body := `{"serviceId":"` + r.first.Demo.ServiceID + `","offeringId":"` + r.first.Demo.OfferingID + `","title":"Watched","fields":{"model":"14 inch"}}`
			r.call(r.client(), 201, "POST", "/v1/requests", r.first.LiveKey, body)
		}
		n, err := out.Read(buffer)
		require.NoError(t, err, seen)
		seen += string(buffer[:n])
	}
	require.Contains(t, seen, "event: next")
	cancel()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
}

// tryUsage compares the summary of commands and flags with the output of --help.
func tryUsage(t *testing.T, r *readme, block string) {
	serve, rest, found := strings.Cut(block, "\natrium migrate")
	require.True(t, found)
	help := r.ok("serve", "--help")
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(serve, -1) {
		require.Contains(t, help, flag)
	}
	rest = regexp.MustCompile(`(?m) +#.*$`).ReplaceAllString("migrate"+rest, "")
	for _, line := range strings.Split(strings.TrimSpace(rest), "\n") {
		line = strings.TrimPrefix(line, "atrium ")
		var noun string
		for _, command := range regexp.MustCompile(` [|·] `).Split(line, -1) {
			words := strings.Fields(command)
			flags := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })
			path := words
			if flags >= 0 {
				path = words[:flags]
			}
			if len(path) > 1 {
				noun = path[0]
			} else if noun != "" {
				path = []string{noun, path[0]} // key create | rotate
			}
			help := r.ok(append(slices.Clone(path), "--help")...)
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(command, -1) {
				require.Contains(t, help, flag)
			}
		}
	}
}

// The table of the README names every package below internal, and only folders that exist.
func TestReadmeNamesThePackages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^|]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		folders := strings.Split(row[1], "`, `")
		for i, folder := range folders {
			if i > 0 { // it is beside the first
				folder = path.Join(path.Dir(folders[0]), folder)
			}
			require.DirExists(t, filepath.Join("../..", folder))
			named = append(named, folder)
		}
	}
	entries, err := os.ReadDir("../../internal")
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			require.Contains(t, named, "internal/"+e.Name(), "the table of the README lacks it")
		}
	}
}

// tryGo checks that the lines are in the files that they are said to be from.
func tryGo(t *testing.T, _ *readme, block string) {
	var file string
	for _, line := range strings.Split(strings.TrimPrefix(block, "go\n"), "\n") {
		if name, ok := strings.CutPrefix(line, "// "); ok {
			text, err := os.ReadFile("../../" + name)
			require.NoError(t, err)
			file = strings.Join(strings.Fields(string(text)), " ")
			continue
		}
		require.Contains(t, file, strings.Join(strings.Fields(line), " "))
	}
}

// The policies that policies/README.md shows to operators are valid, and deny what it says. Package authz tests its examples of
// policy documents.
func TestPoliciesReadmeSnippets(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	dir := t.TempDir()
	for _, block := range snippets(t, "policies/README.md") {
		language, code, _ := strings.Cut(block, "\n")
		require.Contains(t, []string{"json", "rego"}, language, "nothing tries this block:\n%s", block)
		if language == "rego" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.rego"), []byte(code), 0o600))
		}
	}
	n := p.serve("--policy-dir", dir)
	key := p.firstRun().LiveKey
	refused := n.call(n.client(), 403, "POST", "/v1/services", key, `{"name": "Frozen", "tags": {"env": "prod"}}`)
	require.Equal(t, "freeze", decode(t, refused.body)["reason"])
	n.call(n.client(), 201, "POST", "/v1/services", key, `{"name": "Free", "tags": {"env": "test"}}`)
}
