package rest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/desk/attachment"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

// fileServer is a server with files, on one database.
type fileServer struct {
	*apitest.Server
	depot *attachment.Depot
	dir   string
}

// eachWithFiles runs fn against servers that keep files.
func eachWithFiles(t *testing.T, fn func(t *testing.T, s *fileServer)) {
	t.Helper()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		f := &fileServer{dir: t.TempDir()}
		f.Server = apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
			f.depot = attachment.NewDepot(attachment.Depot{Engine: p.Engine, Files: files.NewFolder(filepath.Join(f.dir, "files")), Spool: filepath.Join(f.dir, "uploads"), Log: p.Log})
			return rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL, Files: f.depot})
		})
		fn(t, f)
	})
}

// bytesOf sends or gets the bytes of a file; it returns the answer and its body.
func (s *fileServer) bytesOf(t *testing.T, as apitest.Caller, method, path string, content []byte, header http.Header) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(content))
	require.NoError(t, err)
	if content == nil {
		req.Body, req.ContentLength = nil, 0
	}
	for _, h := range []http.Header{as.Header, header} {
		for k, v := range h {
			req.Header[k] = v
		}
	}
	res, err := s.HTTP.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, out
}

// announce announces a file, and returns its id.
func (s *fileServer) announce(t *testing.T, as apitest.Caller, in body) string {
	t.Helper()
	return s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/attachments", Body: in}).ID()
}

// attach announces a file and sends its bytes.
func (s *fileServer) attach(t *testing.T, as apitest.Caller, in body, content []byte) string {
	t.Helper()
	in["size"] = len(content)
	id := s.announce(t, as, in)
	res, out := s.bytesOf(t, as, http.MethodPut, "/v1/attachments/"+id+"/content", content, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
	return id
}

// stored returns the files in the store.
func (s *fileServer) stored(t *testing.T) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func picture(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewRGBA(image.Rect(0, 0, 640, 480))))
	return out.Bytes()
}

// A file is announced, sent, read by whoever reads its request, and removed.
func TestFileLife(t *testing.T) {
	t.Parallel()
	eachWithFiles(t, func(t *testing.T, s *fileServer) {
		f := offered(t, s.Server, s.A.OwnerKey, nil)
		member, staff := s.A.Member, s.A.Agent
		request := create(t, s.Server, member, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "Laptop"})
		content := []byte("The fan is loud.\n" + strings.Repeat("x", 200_000))
		sum := sha256.Sum256(content)
		made := s.Do(t, apitest.Scenario{
			As: member, Method: http.MethodPost, Path: "/v1/attachments", Body: body{"requestId": request, "name": "Fan – Lärm.txt", "size": len(content)},
			WantData:  map[string]any{"requestId": request, "commentId": nil, "status": "UPLOADING", "sha256": nil, "mediaType": nil, "createdBy": member.UserID},
			WantAudit: &apitest.AuditWant{Action: "attachment.created", ResourceType: "Attachment", Outcome: "allowed"},
		})
		id := made.ID()
		path := "/v1/attachments/" + id
		require.Equal(t, path+"/content", made.Text("data.uploadUrl"))
		s.Do(t, apitest.Scenario{Name: "no bytes yet", As: staff, Path: path, WantData: map[string]any{"status": "UPLOADING"}})
		res, out := s.bytesOf(t, staff, http.MethodGet, path+"/content", nil, nil)
		require.Equal(t, http.StatusConflict, res.StatusCode, "%s", out)
		res, out = s.bytesOf(t, staff, http.MethodPut, path+"/content", content, nil)
		require.Equal(t, http.StatusForbidden, res.StatusCode, "who has not announced it does not send it: %s", out)
		for _, wrong := range [][]byte{content[:10], append(bytes.Clone(content), 'x')} {
			res, out = s.bytesOf(t, member, http.MethodPut, path+"/content", wrong, nil)
			require.Equal(t, http.StatusBadRequest, res.StatusCode, "%s", out)
		}
		require.Empty(t, s.stored(t), "nothing is kept of what is not whole")

		res, out = s.bytesOf(t, member, http.MethodPut, path+"/content", content, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
		var got struct{ Data map[string]any }
		require.NoError(t, json.Unmarshal(out, &got))
		assert.Equal(t, "READY", got.Data["status"])
		assert.Equal(t, "SKIPPED", got.Data["scan"])
		assert.Equal(t, hex.EncodeToString(sum[:]), got.Data["sha256"])
		assert.Equal(t, "text/plain", got.Data["mediaType"])
		res, _ = s.bytesOf(t, member, http.MethodPut, path+"/content", content, nil)
		require.Equal(t, http.StatusConflict, res.StatusCode, "it has come already")
		kept := s.stored(t)
		require.Len(t, kept, 1)
		raw, err := os.ReadFile(kept[0])
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "The fan is loud", "what is stored is encrypted")

		res, out = s.bytesOf(t, staff, http.MethodGet, path+"/content", nil, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
		assert.Equal(t, content, out)
		assert.Equal(t, `"`+hex.EncodeToString(sum[:])+`"`, res.Header.Get("ETag"))
		assert.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		assert.Equal(t, "sandbox; default-src 'none'", res.Header.Get("Content-Security-Policy"))
		assert.Contains(t, res.Header.Get("Content-Disposition"), "attachment; filename*=utf-8''Fan%20%E2%80%93%20L%C3%A4rm.txt")
		audit := s.Audit(t, res.Header.Get("X-Request-Id"))
		require.Len(t, audit, 1, "what staff take of others' files is in the log")
		assert.Equal(t, "attachment.downloaded", audit[0].Action)
		part := http.Header{"Range": {"bytes=1-"}}
		res, _ = s.bytesOf(t, staff, http.MethodGet, path+"/content", nil, part)
		require.Equal(t, http.StatusPartialContent, res.StatusCode)
		require.Empty(t, s.Audit(t, res.Header.Get("X-Request-Id")), "once in ten minutes")
		res, _ = s.bytesOf(t, s.A.Owner, http.MethodGet, path+"/content", nil, part)
		require.Len(t, s.Audit(t, res.Header.Get("X-Request-Id")), 1, "of each caller, and of parts, too")
		res, _ = s.bytesOf(t, member, http.MethodGet, path+"/content", nil, nil)
		require.Empty(t, s.Audit(t, res.Header.Get("X-Request-Id")), "it is the member's own")
		res, out = s.bytesOf(t, member, http.MethodGet, path+"/content", nil, http.Header{"Range": {"bytes=100000-100009"}})
		require.Equal(t, http.StatusPartialContent, res.StatusCode)
		assert.Equal(t, content[100000:100010], out)
		res, _ = s.bytesOf(t, member, http.MethodGet, path+"/content", nil, http.Header{"Range": {"bytes=999999-"}})
		require.Equal(t, http.StatusRequestedRangeNotSatisfiable, res.StatusCode)
		res, _ = s.bytesOf(t, member, http.MethodGet, path+"/content", nil, http.Header{"If-None-Match": {`"` + hex.EncodeToString(sum[:]) + `"`}})
		require.Equal(t, http.StatusNotModified, res.StatusCode)

		s.Do(t, apitest.Scenario{As: staff, Path: "/v1/requests/" + request + "/attachments", WantContains: []string{id}})
		s.Run(t, []apitest.Scenario{
			{Name: "another company", As: s.B.OwnerKey, Path: path, WantStatus: 404},
			{Name: "another company removes it", As: s.B.OwnerKey, Method: http.MethodDelete, Path: path, WantStatus: 404},
			{Name: "removed", As: member, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "attachment.deleted"}},
			{Name: "gone", As: member, Path: path, WantStatus: 404},
		})
		res, _ = s.bytesOf(t, s.B.OwnerKey, http.MethodGet, path+"/content", nil, nil)
		require.Equal(t, http.StatusNotFound, res.StatusCode)
		require.NoError(t, s.depot.Sweep(context.Background()))
		require.Len(t, s.stored(t), 1, "the bytes stay for a day")
		s.World.Clock.SetOffset(25 * time.Hour)
		require.NoError(t, s.depot.Sweep(context.Background()))
		require.Empty(t, s.stored(t))
	})
}

// Lists find requests with files and without: those that the caller sees, whose bytes have come and which are not removed.
func TestFilterByFiles(t *testing.T) {
	t.Parallel()
	eachWithFiles(t, func(t *testing.T, s *fileServer) {
		f := offered(t, s.Server, s.A.OwnerKey, nil)
		file := func(title string) string {
			return create(t, s.Server, s.A.Member, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": title})
		}
		add := func(as apitest.Caller, b body, sent bool) string {
			b["name"], b["size"] = "a.txt", 3
			id := create(t, s.Server, as, "/v1/attachments", b)
			if sent {
				res, out := s.bytesOf(t, as, http.MethodPut, "/v1/attachments/"+id+"/content", []byte("abc"), nil)
				require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
			}
			return id
		}
		add(s.A.Member, body{"requestId": file("with a file")}, true)
		add(s.A.Member, body{"requestId": file("with one that has not come")}, false)
		s.Do(t, apitest.Scenario{As: s.A.Member, Method: http.MethodDelete, Path: "/v1/attachments/" + add(s.A.Member, body{"requestId": file("with one that is gone")}, true)})
		for visibility, title := range map[string]string{"internal": "with one at a note", "public": "with one at a comment"} {
			create(t, s.Server, s.A.AgentKey, "/v1/requests/"+file(title)+"/comments", body{"body": "b", "visibility": visibility, "attachmentIds": []string{add(s.A.AgentKey, body{"draft": true}, true)}})
		}
		file("without")
		for _, c := range []struct {
			as   apitest.Caller
			has  string
			want []any
		}{
			{s.A.AgentKey, "true", []any{"with a file", "with one at a note", "with one at a comment"}},
			{s.A.AgentKey, "false", []any{"with one that has not come", "with one that is gone", "without"}},
			{s.A.Member, "true", []any{"with a file", "with one at a comment"}},
			{s.A.Member, "false", []any{"with one that has not come", "with one that is gone", "with one at a note", "without"}},
			{s.B.AgentKey, "true", nil},
		} {
			a := s.Do(t, apitest.Scenario{As: c.as, Path: "/v1/requests?hasAttachments=" + c.has})
			require.ElementsMatch(t, c.want, a.Column("title"), "%s: %s", c.as.Name, c.has)
			require.Equal(t, len(c.want), a.Int("pagination.totalCount"))
		}
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests?hasAttachments=yes", WantStatus: 400, WantFields: []string{"hasAttachments"}})

		owner := s.World.As(s.A.Tenant, principal.Owner)
		c := policy.NewCondition([]byte(`{"principal.role": "agent", "resource.name": "a.txt"}`))
		testkit.Run(t, s.World, owner, policy.Create, policy.CreateInput{Name: "No files", Effect: "Deny", Action: "read", Resource: "Attachment", Condition: &c})
		require.Empty(t, s.Do(t, apitest.Scenario{As: s.A.AgentKey, Path: "/v1/requests?hasAttachments=true"}).Column("title"), "what policies hide is not found")
	})
}

// Drafts become files of what they were written for; a file of an internal comment is for staff.
func TestDraftsAreHandedOver(t *testing.T) {
	t.Parallel()
	eachWithFiles(t, func(t *testing.T, s *fileServer) {
		f := offered(t, s.Server, s.A.OwnerKey, nil)
		member, staff := s.A.Member, s.A.Agent
		draft := s.attach(t, member, body{"draft": true, "name": "shot.png"}, picture(t))
		s.Do(t, apitest.Scenario{Name: "a draft is its author's", As: s.A.Owner, Path: "/v1/attachments/" + draft, WantStatus: 404})
		filing := body{"serviceId": f.service, "offeringId": f.offering, "title": "Laptop", "attachmentIds": []string{draft}}
		s.Do(t, apitest.Scenario{Name: "of somebody else", As: staff, Method: http.MethodPost, Path: "/v1/requests", Body: filing, WantStatus: 400, WantFields: []string{"attachmentIds[0]"}, WantEvents: []string{}})
		request := create(t, s.Server, member, "/v1/requests", filing)
		s.Do(t, apitest.Scenario{Name: "used up", As: member, Method: http.MethodPost, Path: "/v1/requests", Body: filing, WantStatus: 400, WantFields: []string{"attachmentIds[0]"}})
		s.Do(t, apitest.Scenario{As: staff, Path: "/v1/attachments/" + draft, WantData: map[string]any{"requestId": request, "width": 640, "height": 480, "mediaType": "image/png"}})
		res, out := s.bytesOf(t, staff, http.MethodGet, "/v1/attachments/"+draft+"/preview?size=320", nil, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
		small, kind, err := image.Decode(bytes.NewReader(out))
		require.NoError(t, err)
		assert.Equal(t, "jpeg", kind)
		assert.Equal(t, image.Pt(320, 240), small.Bounds().Size())
		audit := s.Audit(t, res.Header.Get("X-Request-Id"))
		require.Len(t, audit, 1, "what staff see of others' pictures is in the log")
		assert.Equal(t, "attachment.previewed", audit[0].Action)

		same := s.attach(t, staff, body{"draft": true, "name": "again.png"}, picture(t))
		require.Len(t, s.stored(t), 2, "the same bytes are stored once, besides the preview")
		comment := create(t, s.Server, staff, "/v1/requests/"+request+"/comments", body{"body": "look", "visibility": "internal", "attachmentIds": []string{same}})
		s.Run(t, []apitest.Scenario{
			{Name: "staff read it", As: s.A.Owner, Path: "/v1/attachments/" + same, WantData: map[string]any{"commentId": comment}},
			{Name: "the requester does not", As: member, Path: "/v1/attachments/" + same, WantStatus: 404},
			{Name: "nor finds it", As: member, Path: "/v1/requests/" + request + "/attachments", WantContains: []string{draft}, WantNot: []string{same}},
			{Name: "with the comment it goes", As: staff, Method: http.MethodDelete, Path: "/v1/comments/" + comment},
			{Name: "and is not found", As: staff, Path: "/v1/attachments/" + same, WantStatus: 404},
		})
		crashed := filepath.Join(s.dir, "files", s.A.Tenant.Company.ID, "file_01m8m4qczbff18h62pc8ntzsxn")
		require.NoError(t, os.WriteFile(crashed, []byte("x"), 0o600))
		require.NoError(t, s.depot.RemoveUnnamed(context.Background()))
		require.Len(t, s.stored(t), 3, "an upload may be under way")
		s.World.Clock.SetOffset(49 * time.Hour)
		require.NoError(t, s.depot.RemoveUnnamed(context.Background()))
		s.World.Clock.SetOffset(74 * time.Hour)
		require.NoError(t, s.depot.Sweep(context.Background()))
		s.World.Clock.SetOffset(0)
		require.NoFileExists(t, crashed)
		require.Len(t, s.stored(t), 2, "what rows name stays, with its preview")
		theirs := s.attach(t, s.B.Agent, body{"draft": true, "name": "theirs.png"}, picture(t))
		require.Len(t, s.stored(t), 3, "companies share no bytes")
		s.Do(t, apitest.Scenario{Name: "of another company", As: member, Method: http.MethodPost, Path: "/v1/requests/" + request + "/comments", Body: body{"body": "x", "attachmentIds": []string{theirs}}, WantStatus: 400, WantFields: []string{"attachmentIds[0]"}})
	})
}

// What may not be announced is refused before a byte is sent, by name.
func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	eachWithFiles(t, func(t *testing.T, s *fileServer) {
		f := offered(t, s.Server, s.A.OwnerKey, nil)
		member := s.A.MemberKey
		request := create(t, s.Server, s.A.Owner, "/v1/requests", body{"serviceId": f.service, "offeringId": f.offering, "title": "The owner's"})
		post := func(name string, in body, fields ...string) apitest.Scenario {
			return apitest.Scenario{Name: name, As: member, Method: http.MethodPost, Path: "/v1/attachments", Body: in, WantStatus: 400, WantFields: fields}
		}
		s.Run(t, []apitest.Scenario{
			post("nowhere", body{"name": "a", "size": 1}, "requestId"),
			post("twice", body{"name": "a", "size": 1, "draft": true, "requestId": request}, "requestId"),
			post("a request that the member does not read", body{"name": "a", "size": 1, "requestId": request}, "requestId"),
			post("a path", body{"name": "../../etc/passwd", "size": 1, "draft": true}, "name"),
			post("a path of Windows", body{"name": `..\boot.ini`, "size": 1, "draft": true}, "name"),
			post("turned letters", body{"name": "invoice\u202efdp.exe", "size": 1, "draft": true}, "name"),
			post("a line break", body{"name": "a\nb", "size": 1, "draft": true}, "name"),
			post("nothing", body{"name": "a", "size": 0, "draft": true}, "size"),
			post("more than the plan allows", body{"name": "a", "size": 250<<20 + 1, "draft": true}, "size"),
		})
		id := s.announce(t, member, body{"name": "page.html", "size": 33, "draft": true})
		session := s.Session(t, s.World.A.Users[principal.Member])
		delete(session.Header, "X-Requested-With")
		html := []byte("<html><script>alert(1)</script>\n\n")
		res, out := s.bytesOf(t, session, http.MethodPut, "/v1/attachments/"+id+"/content", html, nil)
		require.Equal(t, http.StatusForbidden, res.StatusCode, "a page of another site sends nothing: %s", out)
		res, out = s.bytesOf(t, s.Session(t, s.World.A.Users[principal.Member]), http.MethodPut, "/v1/attachments/"+id+"/content", html, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", out)
		res, _ = s.bytesOf(t, member, http.MethodGet, "/v1/attachments/"+id+"/content", nil, nil)
		assert.Equal(t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"), "a browser runs nothing of it")
		assert.Contains(t, res.Header.Get("Content-Disposition"), "attachment;")
		res, _ = s.bytesOf(t, apitest.Nobody, http.MethodGet, "/v1/attachments/"+id+"/content", nil, nil)
		require.Equal(t, http.StatusUnauthorized, res.StatusCode)
		s.World.Clock.SetOffset(49 * time.Hour)
		require.NoError(t, s.depot.Sweep(context.Background()))
		s.Do(t, apitest.Scenario{Name: "a draft that nobody used", As: member, Path: "/v1/attachments/" + id, WantStatus: 404})
	})
}
