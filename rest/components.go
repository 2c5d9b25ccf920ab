package rest

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// refusal is an error code with its description.
type refusal struct {
	Code apperr.Code
	Doc  string
}

// Status returns the HTTP status of the code.
func (r refusal) Status() int { return gate.StatusOf(r.Code) }

// allRefusals lists the error codes of the API, ordered by status.
var allRefusals = []refusal{
	{apperr.Validation, "A parameter, the body or one of its fields is not valid; `details` has one row per fault."},
	{apperr.Unauthorized, "The API key or token is missing, wrong, expired or revoked."},
	{apperr.Forbidden, "A scope, the role or an access policy says no; `reason` names it where you may know."},
	{apperr.HTTPSRequired, "The request came over plain HTTP and was not processed."},
	{apperr.NotFound, "There is nothing at this path, or nothing that is your company's."},
	{apperr.MethodNotAllowed, "The path does not take this method; the header Allow lists those that it takes."},
	{apperr.Conflict, "The resource's state, or another resource, stands in the way, such as one with the same slug."},
	{apperr.PreconditionFailed, "The resource has changed since you read it: If-Match names an older ETag."},
	{apperr.PayloadTooLarge, "The body has more than 1 MiB."},
	{apperr.UnsupportedMediaType, "The body is not sent as application/json."},
	{apperr.IdempotencyMismatch, "The idempotency key was used with another request."},
	{apperr.RateLimited, "Too many requests; `retryAfter` and the header Retry-After say how many seconds to wait."},
	{apperr.Internal, "Something went wrong on our side; `requestId` is what to quote to support."},
	{apperr.Unavailable, "The service cannot answer at the moment. Try again shortly."},
}

// allCodes returns the codes of allRefusals.
func allCodes() []any {
	codes := make([]any, len(allRefusals))
	for i, r := range allRefusals {
		codes[i] = r.Code
	}
	return codes
}

// responseName names the shared response of an error's status.
func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// errorResponses returns one response per status of allRefusals, with the codes of that status.
func errorResponses(failure *huma.Schema) map[string]*huma.Response {
	out := map[string]*huma.Response{"NotModified": {
		Description: "The resource is still as If-None-Match knows it.", Headers: headerRefs(append([]string{"ETag"}, limited...)...),
	}}
	for _, r := range allRefusals {
		if r.Code == apperr.MethodNotAllowed {
			continue // the document lists the methods of each path
		}
		name, doc := responseName(r.Status()), "`"+string(r.Code)+"`: "+r.Doc
		if known := out[name]; known != nil {
			known.Description += "\n\n" + doc
			code := known.Content["application/json"].Schema.Properties["error"]
			code.Enum = append(code.Enum, r.Code)
			continue
		}
		schema := &huma.Schema{Ref: failure.Ref, Properties: map[string]*huma.Schema{"error": {Enum: []any{r.Code}}}}
		example := gate.Error{Code: r.Code, Message: strings.Split(r.Doc, ";")[0]}
		names := limited
		switch r.Code {
		case apperr.Unauthorized:
			names = []string{"WWW-Authenticate", "X-Request-Id"}
		case apperr.RateLimited:
			names = append([]string{"Retry-After"}, limited...)
			schema.Required, example.RetryAfter = []string{"retryAfter"}, 7
		case apperr.Internal:
			schema.Required, example.RequestID = []string{"requestId"}, "rid_01k9ye4ryzf7stj6dqnm8x2v3b"
		}
		out[name] = &huma.Response{
			Description: doc, Headers: headerRefs(names...),
			Content: map[string]*huma.MediaType{"application/json": {Schema: schema, Example: example}},
		}
	}
	return out
}

// limited are the headers of every answer to an authenticated caller.
var limited = []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"}

func headerRefs(names ...string) map[string]*huma.Header {
	out := map[string]*huma.Header{}
	for _, name := range names {
		out[name] = &huma.Header{Ref: "#/components/headers/" + name}
	}
	return out
}

// runParam is the component of the header Agent-Run. Generators make Go types of the names of components, and AgentRun is a schema.
const runParam = "Agent-Run-Header"

// headerParams are the request headers that endpoints take, by the names of their components.
var headerParams = map[string]*huma.Param{
	"Idempotency-Key": {
		Name: "Idempotency-Key", In: "header",
		Description: "Makes a retry safe: for 24 hours the same key with the same request answers as the first time, with no second effect.",
		Schema: &huma.Schema{
			Type: huma.TypeString, MinLength: new(1), MaxLength: new(gate.MaxKey), Pattern: "^[ -~]+$",
			Extensions: map[string]any{patternDoc: "printable ASCII characters"},
		},
	},
	runParam: {
		Name: gate.RunHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^run_"},
		Description: "With an agent's key: the run that the call is part of. A write then becomes a proposal, or an action that waits for a person: 202.",
	},
	"If-Match": {
		Name: "If-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "The ETag that you read. When the resource has changed since, nothing happens and the answer is 412.",
	},
	"If-None-Match": {
		Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "The ETag that you have. When the resource is still the same, the answer is 304 without a body.",
	},
}

// headers are the headers of answers.
var headers = map[string]*huma.Header{
	"ETag":                 header(huma.TypeString, "The resource's version, for If-Match and If-None-Match.", `"2Uu3sB7pTq1mVx0aZkLd"`),
	"Idempotency-Replayed": header(huma.TypeString, "true when this is the kept answer to an earlier request with the same key.", "true"),
	"Location":             header(huma.TypeString, "The path of the new resource.", "/v1/services/svc_01k9ye4ryzf7stj6dqnm8x2v3b"),
	"RateLimit":            header(huma.TypeString, "Calls that are left in the window that runs out first, and the seconds until it starts anew.", `"minute";r=59;t=60`),
	"RateLimit-Policy":     header(huma.TypeString, "The limits of the company's plan.", `"minute";q=60;w=60, "day";q=10000;w=86400`),
	"Retry-After":          header(huma.TypeInteger, "Seconds to wait.", nil),
	"WWW-Authenticate":     header(huma.TypeString, "How to authenticate.", `Bearer realm="atrium"`),
	"X-Total-Count":        header(huma.TypeInteger, "How many rows match.", nil),
	"X-Request-Id":         header(huma.TypeString, "The request's id, as audit entries and support know it.", "rid_01k9ye4ryzf7stj6dqnm8x2v3b"),
}

func header(kind, doc string, example any) *huma.Header {
	return &huma.Header{Description: doc, Schema: &huma.Schema{Type: kind}, Example: example}
}

// securitySchemes returns the credentials that endpoints take. If tokens come from another issuer (authURL is empty), only the
// bearer scheme is known.
func securitySchemes(authURL string) map[string]*huma.SecurityScheme {
	out := map[string]*huma.SecurityScheme{"apiKey": {
		Type: "apiKey", Name: "x-api-key", In: "header",
		Description: "An API key of the company: key_live_… for production, key_test_… for the sandbox.",
	}}
	if authURL == "" {
		out["bearer"] = &huma.SecurityScheme{Type: "http", Scheme: "bearer", Description: "An access token of your identity provider."}
		return out
	}
	scopes := map[string]string{"openid": "An ID token besides", "offline_access": "A refresh token besides"}
	for _, name := range principal.ScopeNames {
		scopes[name] = strings.Join(operationsOf(name), "; ")
	}
	out["oauth2"] = &huma.SecurityScheme{
		Type: "oauth2", Description: "An access token of the identity provider: authorization code with PKCE, S256.",
		Flows: &huma.OAuthFlows{AuthorizationCode: &huma.OAuthFlow{
			AuthorizationURL: authURL + "/oauth2/authorize", TokenURL: authURL + "/oauth2/token", RefreshURL: authURL + "/oauth2/token", Scopes: scopes,
		}},
	}
	return out
}

// operationsOf returns the summaries of the operations that require a scope.
func operationsOf(scope string) []string {
	var out []string
	for i := range routes {
		if rt := &routes[i]; rt.op.Scope == scope {
			out = append(out, rt.op.Summary)
		}
	}
	return out
}

// tagDocs describes each group of operations.
var tagDocs = map[string]string{
	"Services":             "What a company offers to its people, such as IT support.",
	"Offerings":            "What can be asked of a service, such as a new laptop: with a form, a workflow and times to keep.",
	"Service templates":    "Services as packs that others can install.",
	"Packs":                "Starter packs: what a company needs to offer a service, in one file. Installing one is all or nothing.",
	"Requests":             "What people file against offerings, and how it goes on.",
	"Agent runs":           "What agents work. A key that stands on an agent sees the runs of that agent alone, and works them. Any call of a run renews its lease of five minutes.",
	"Attachments":          "Files at requests and comments. Announce one, then send its bytes; GraphQL has the same but for the bytes.",
	"Comments":             "What people write on a request, for everybody who reads it or among those who work on it.",
	"Workflows":            "How requests are processed: drafts of definitions, which executions follow once they are published.",
	"Workflow versions":    "Definitions as they were published; they never change.",
	"Schedules":            "Plans to start a workflow or to file a request, again and again.",
	"Executions":           "Runs of a published workflow.",
	"Incidents":            "What stopped an execution, until somebody has the phase tried again or skipped.",
	"Tasks":                "What an execution asks of a person, a team or an agent.",
	"Approvals":            "What an execution asks approvers to decide.",
	"Inbound webhooks":     "Addresses that start a workflow when they are called. Admins make them by GraphQL.",
	"Users":                "The company's people.",
	"Teams":                "Groups of people that work is given to.",
	"Organizations":        "The company's units, in a tree.",
	"Secrets":              "Values that workflows need in calls to the outside; they are never returned.",
	"Credits":              "The company's credit balance and where it comes from.",
	"Report subscriptions": "Reports about requests that one gets by mail each week; each is its reader's alone.",
	"Request imports":      "Tables of other systems' requests that are brought in.",
	"Audit entries":        "Who did what, when and from where; refused and failed calls included.",
}
