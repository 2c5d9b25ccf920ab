package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// A question for files is answered with drafts, which are files of the request then. Its answers stand in the table by their names, and
// are found by these.
func TestFormsAskForFiles(t *testing.T) {
	t.Parallel()
	eachWithFiles(t, func(t *testing.T, s *fileServer) {
		f := offered(t, s.Server, s.A.OwnerKey, body{"fields": []body{
			{"key": "invoice", "label": "Invoice", "type": "file", "required": true, "accept": []string{".txt", "image/*"}, "maxFiles": 2}, {"key": "note", "type": "text"},
		}})
		shown := s.Do(t, apitest.Scenario{As: s.A.Member, Path: "/v1/offerings/" + f.offering})
		require.Equal(t, []any{[]any{".txt", "image/*"}, 2.0, nil}, []any{shown.Get("data.form.fields.0.accept"), shown.Get("data.form.fields.0.maxFiles"), shown.Get("data.form.fields.1.maxFiles")})
		draft := func(as apitest.Caller, name string) string {
			return s.attach(t, as, body{"draft": true, "name": name}, []byte("The content of "+name))
		}
		file := func(name string, fields body, wrong ...string) apitest.Scenario {
			return apitest.Scenario{
				Name: name, As: s.A.Member, Method: http.MethodPost, Path: "/v1/requests", WantStatus: 400, WantFields: wrong,
				Body: body{"serviceId": f.service, "offeringId": f.offering, "title": "Pay it", "fields": fields},
			}
		}
		there := draft(s.B.OwnerKey, "there.txt")
		s.Run(t, []apitest.Scenario{
			file("no file", body{}, "fields.invoice"), file("no list", body{"invoice": there}, "fields.invoice"),
			file("another company's", body{"invoice": []string{there}}, "fields.invoice[0]"),
			file("staff's and a page", body{"invoice": []string{draft(s.A.AgentKey, "staff.txt"), draft(s.A.Member, "a.html")}}, "fields.invoice[0]", "fields.invoice[1]"),
			{
				Name: "a faulty question", As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/offerings/" + f.offering, WantStatus: 400,
				Body: body{"form": body{"fields": []body{{"key": "a", "type": "file", "accept": []string{"all"}, "maxFiles": 21, "min": 1}}}}, WantFields: []string{"form.fields[0].maxFiles", "form.fields[0].min", "form.fields[0].accept[0]"},
			},
			{
				Name: "what no file is", As: s.A.OwnerKey, Method: http.MethodPatch, Path: "/v1/offerings/" + f.offering, WantStatus: 400,
				Body:       body{"form": body{"fields": []body{{"key": "a", "type": "file", "accept": []string{"all"}}, {"key": "b", "type": "text", "visibleWhen": body{"a": "x"}}}}},
				WantFields: []string{"form.fields[0].accept[0]", "form.fields[1].visibleWhen.a"},
			},
		})
		one, two := draft(s.A.Member, "one.txt"), draft(s.A.AgentKey, "two.txt")
		ok := file("", body{"invoice": []string{one}})
		ok.WantStatus, ok.WantFields = 201, nil
		id := s.Do(t, ok).ID()
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodPatch, Path: "/v1/requests/" + id, Body: body{"fields": body{"invoice": []string{two, one}}}})
		require.Equal(t, 2, s.Do(t, apitest.Scenario{As: s.A.Member, Path: "/v1/requests/" + id + "/attachments"}).Int("pagination.totalCount"))
		s.Do(t, apitest.Scenario{As: s.A.AgentKey, Method: http.MethodDelete, Path: "/v1/attachments/" + one, WantStatus: 409, WantContains: []string{"names this file"}})

		_, rows := table(t, s.Server, s.A.AgentKey, "")
		require.JSONEq(t, `{"invoice":["two.txt","one.txt"]}`, rows[0]["fields"])
	})
}
