package main_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The walkthroughs of the guides work on the demo company as printed, except for the server's ports and folder: a workflow from a
// request through its tasks and its approval to its end, one whose order shows the price, one that is started by a call from GitHub and
// waits for a timer, a trial, branches at once, a workflow that calls another one, and a secret with its hosts.
func TestReadmeProcess(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve("--dev-clock")
		shows := [][]string{
			{`"status":"COMPLETED"`, `"phaseId":"done"`},
			{`"name":"Ask for the price"`},
			{`"state":"PAUSED"`, `"state":"WARNING"`, `which is soon`, `"status":"COMPLETED","sla":{"state":"MET"},"execution":{"status":"COMPLETED"}`},
			{`"status":"COMPLETED"`, `"answer":"answers.approve"`},
			{`"branch":"Rooms"`, `"output":{"rooms":2}`, `"completed":["Laptop","Rooms"]`},
			{`"title":"Order a desk for Ada"`, `"euros":420`, `"parentPhaseId":"desk"`},
			{`"allowedHosts":["api.shop.example"]`},
		}
		for _, block := range allSnippets(t) {
			code, walk := strings.CutPrefix(block, "sh\n")
			if !walk {
				continue
			}
			require.NotEmpty(t, shows, "a walk that nobody has looked at")
			code = strings.NewReplacer("https://127.0.0.1:8443", n.base, "127.0.0.1:9443", strings.TrimPrefix(n.admin, "http://"), "cd data\n", "cd "+p.data+"\n",
				"Bearer LEAD", "Bearer "+n.token(n.firstRun().Company.ID, "lead@demo.example"),
				"Bearer TOKEN", "Bearer "+n.token(n.firstRun().Company.ID, n.firstRun().Owner.Email)).Replace(code)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			out, err := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", code).CombinedOutput()
			cancel()
			require.NoError(t, err, "%s", out)
			for _, shown := range shows[0] {
				require.Contains(t, string(out), shown)
			}
			shows = shows[1:]
		}
		require.Empty(t, shows, "a walk has gone")
	})
}
