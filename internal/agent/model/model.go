package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"atrium/internal/platform/text"
)

const (
	// Timeout is the limit for one call.
	Timeout = 60 * time.Second

	// MaxArguments bounds the arguments of one call, in bytes. Longer ones are left out, so that the call is faulty.
	MaxArguments = 16 << 10

	maxAnswer  = 1 << 20 // bytes of a response that are read
	maxContent = 8 << 10 // bytes of text; the rest is cut off
	maxCalls   = 8       // tool calls in one answer
)

// Endpoint is the address of a model.
type Endpoint struct {
	URL   string // base URL, without chat/completions
	Key   string // empty for none
	Model string
	HTTP  *http.Client // the guarded client, for an address that a customer chose
}

// The roles of messages.
const (
	System    = "system"
	Data      = "user" // text that people wrote: never instructions
	Assistant = "assistant"
	Result    = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`  // only for the assistant
	CallID  string `json:"callId,omitempty"` // only for a result: the call that it answers
}

// Call is a tool call of the model.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, as the model wrote it
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Parameters        map[string]any // JSON Schema
}

// Answer is the answer of a model.
type Answer struct {
	Content      string `json:"content"`
	Calls        []Call `json:"calls"`
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
	Millis       int64  `json:"millis"`
}

// Error says why there is no answer. Its text is for people and contains nothing that the other server sent.
type Error struct {
	Status int  // HTTP status; 0 without a response
	Again  bool // a retry may succeed
	cause  error
}

func (e *Error) Error() string {
	switch {
	case e.Status == http.StatusTooManyRequests:
		return "the model has too much to do"
	case e.Status != 0:
		return fmt.Sprintf("the model's address answered %d", e.Status)
	case errors.Is(e.cause, context.DeadlineExceeded):
		return "the model did not answer in time"
	case errors.Is(e.cause, errRedirect):
		return "the model's address redirects, which is not followed"
	case errors.Is(e.cause, errAnswer):
		return "the model's answer could not be read"
	}
	return "the model's address could not be reached"
}

// Unwrap returns the cause, for the log.
func (e *Error) Unwrap() error { return e.cause }

var (
	errAnswer   = errors.New("not an answer of chat completions")
	errRedirect = errors.New("a redirect")
)

// Ask makes one call. Returns *Error.
func (e Endpoint) Ask(ctx context.Context, messages []Message, tools []Tool, maxTokens int) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(e.URL, "/") + "/"), option.WithMaxRetries(0), option.WithMiddleware(cut),
		option.WithUnsafeAllowHTTP(), // the operator's model may be on loopback; customers' addresses are https, see op.Tx.CheckURL
	}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	if e.HTTP != nil {
		options = append(options, option.WithHTTPClient(e.HTTP))
	}
	began := time.Now()
	service := openai.NewChatCompletionService(options...)
	request := openai.ChatCompletionNewParams{Model: e.Model, Messages: params(messages), Tools: offered(tools)}
	if e.isOpenAI() { // its newer models refuse max_tokens and any temperature; other servers do not know max_completion_tokens
		request.MaxCompletionTokens = openai.Int(int64(maxTokens))
	} else {
		request.MaxTokens, request.Temperature = openai.Int(int64(maxTokens)), openai.Float(0)
	}
	got, err := service.New(ctx, request)
	if err != nil {
		return Answer{}, refusal(ctx, err)
	}
	if got == nil || len(got.Choices) == 0 { // null is nil
		return Answer{}, &Error{Again: true, cause: errAnswer}
	}
	said := got.Choices[0].Message
	out := Answer{
		Content: text.Cut(said.Content, maxContent), InputTokens: int(got.Usage.PromptTokens), OutputTokens: int(got.Usage.CompletionTokens),
		Millis: time.Since(began).Milliseconds(), Calls: []Call{},
	}
	for _, c := range said.ToolCalls[:min(maxCalls, len(said.ToolCalls))] {
		arguments := c.Function.Arguments
		if len(arguments) > MaxArguments {
			arguments = ""
		}
		out.Calls = append(out.Calls, Call{ID: text.Cut(c.ID, 100), Name: text.Cut(c.Function.Name, 64), Arguments: text.Plain(arguments)})
	}
	if out.InputTokens <= 0 || out.OutputTokens < 0 { // estimate for a server that does not count
		out.InputTokens, out.OutputTokens = estimate(messages), len(out.Content)/4+1
		for _, c := range out.Calls {
			out.OutputTokens += (len(c.Name) + len(c.Arguments)) / 4
		}
	}
	return out, nil
}

// isOpenAI reports whether OpenAI runs the model, itself or on Azure.
func (e Endpoint) isOpenAI() bool {
	u, err := url.Parse(e.URL)
	return err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com"))
}

// estimate returns the approximate number of tokens of messages.
func estimate(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)/4 + 4
	}
	return n
}

func refusal(ctx context.Context, err error) error {
	if status, ok := errors.AsType[*openai.Error](err); ok {
		again := status.StatusCode == http.StatusTooManyRequests || status.StatusCode >= http.StatusInternalServerError
		return &Error{Status: status.StatusCode, Again: again, cause: fmt.Errorf("status %d", status.StatusCode)} // the body is another server's text
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{Again: true, cause: errAnswer}
	}
	if ctx.Err() != nil {
		return &Error{Again: true, cause: ctx.Err()}
	}
	return &Error{Again: true, cause: err}
}

// cut limits the size of a response, requires JSON, and discards the body of an error.
func cut(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case res.StatusCode >= http.StatusMultipleChoices:
		body = []byte("{}")
		if res.StatusCode < http.StatusBadRequest { // the library takes it for an answer
			return nil, errRedirect
		}
	case err != nil:
		return nil, err
	case len(body) > maxAnswer || !json.Valid(body):
		return nil, errAnswer
	}
	res.Header.Set("Content-Type", "application/json") // some servers omit it, and the library requires it
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

func params(messages []Message) []openai.ChatCompletionMessageParamUnion {
	out := make([]openai.ChatCompletionMessageParamUnion, 0, len(messages))
	for _, m := range messages {
		switch m.Role {
		case System:
			out = append(out, openai.SystemMessage(m.Content))
		case Result:
			out = append(out, openai.ToolMessage(m.Content, m.CallID))
		case Assistant:
			said := openai.ChatCompletionAssistantMessageParam{}
			if m.Content != "" || len(m.Calls) == 0 {
				said.Content.OfString = openai.String(m.Content)
			}
			for _, c := range m.Calls {
				if !json.Valid([]byte(c.Arguments)) {
					c.Arguments = "{}" // servers that parse arguments would refuse the conversation
				}
				said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments},
				}})
			}
			out = append(out, openai.ChatCompletionMessageParamUnion{OfAssistant: &said})
		default:
			out = append(out, openai.UserMessage(m.Content))
		}
	}
	return out
}

func offered(tools []Tool) []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, t := range tools {
		out = append(out, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: shared.FunctionParameters(t.Parameters),
		}))
	}
	return out
}
