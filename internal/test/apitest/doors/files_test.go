package doors

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/attachment"
	"atrium/internal/platform/files"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// REST and GraphQL announce the same files, say where their bytes are to be sent, which is where REST takes them, and refuse the same.
func TestFilesAreAnnounced(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		dir := t.TempDir()
		s := apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
			p.Engine.BaseURL = "https://atrium.test"
			return bothWith(p, attachment.NewDepot(attachment.Depot{Engine: p.Engine, Files: files.NewFolder(filepath.Join(dir, "files")), Spool: filepath.Join(dir, "uploads"), Log: p.Log}))
		})
		const create = `mutation($in: CreateAttachmentInput!) { createAttachment(input: $in) { uploadUrl attachment { id name size status mediaType createdBy } } }`
		as := s.A.Member
		ask := func(in vars) *apitest.Answer {
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": create, "variables": vars{"in": in}}})
		}
		in := vars{"draft": true, "name": "fan.txt", "size": 5}
		r, g := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/attachments", Body: in, WantStatus: 201}), ask(in)
		for _, field := range []string{"name", "size", "status", "mediaType", "createdBy"} {
			require.Equal(t, r.Get("data."+field), g.Get("data.createAttachment.attachment."+field), field)
		}
		require.Equal(t, "/v1/attachments/"+r.ID(), r.Header.Get("Location"))
		for id, to := range map[string]string{
			r.ID(): r.Text("data.uploadUrl"), g.Text("data.createAttachment.attachment.id"): g.Text("data.createAttachment.uploadUrl"),
		} {
			require.Equal(t, "https://atrium.test/v1/attachments/"+id+"/content", to)
			put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+to[len("https://atrium.test"):], bytes.NewReader([]byte("Loud.")))
			require.NoError(t, err)
			put.Header = as.Header.Clone()
			res, err := s.HTTP.Do(put)
			require.NoError(t, err)
			out, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
			there := s.Do(t, apitest.Scenario{As: as, Path: "/v1/attachments/" + id, WantData: map[string]any{"status": "READY"}})
			require.False(t, there.Has("data.uploadUrl"), "its bytes have come")
		}
		for name, in := range map[string]vars{
			"a path": {"draft": true, "name": "../fan.txt", "size": 5}, "no place": {"name": "fan.txt", "size": 5}, "nothing": {"draft": true, "name": "fan.txt", "size": 0},
			"too large": {"draft": true, "name": "fan.txt", "size": 1 << 30}, "a foreign request": {"requestId": "req_01k9ye4ryzf7stj6dqnm8x2v3b", "name": "fan.txt", "size": 5},
		} {
			r := s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/attachments", Body: in, WantStatus: 400, WantCode: "validation_error"})
			g := ask(in)
			require.NotEmpty(t, rowsOf(r, "details"), name)
			require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), "%s: %s", name, g.Body)
		}
	})
}
