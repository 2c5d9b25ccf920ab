package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"atrium/internal/text"
)

const (
	// Timeout is how long one call takes at most.
	Timeout = 60 * time.Second

	maxAnswer    = 1 << 20  // bytes that are read
	maxContent   = 8 << 10  // bytes of text that are kept
	maxArguments = 16 << 10 // bytes of one call's arguments; longer ones are a faulty call
	maxCalls     = 8        // of tools, in one answer
)

// Endpoint is where a model is asked.
type Endpoint struct {
	URL   string // chat/completions is below it
	Key   string // empty for none
	Model string
	HTTP  *http.Client // the guarded one for an address that a customer chose
}

// The roles of messages.
const (
	System    = "system"
	Data      = "user" // what people wrote: never orders
	Assistant = "assistant"
	Result    = "tool"
)

// Message is one of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`  // of an assistant's
	CallID  string `json:"callId,omitempty"` // that a result is for
}

// Call is a tool that the model calls.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, as the model wrote it
}

// Tool is what the model may call.
type Tool struct {
	Name, Description string
	Parameters        map[string]any // JSON Schema
}

// Answer is what came back.
type Answer struct {
	Content      string `json:"content"`
	Calls        []Call `json:"calls"`
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
	Millis       int64  `json:"millis"`
}

// Error says why there is no answer. Its text is for people, and holds nothing that the other side sent.
type Error struct {
	Status int  // 0 where no answer came
	Again  bool // another attempt may do better
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
	case errors.Is(e.cause, errAnswer):
		return "the model's answer could not be read"
	}
	return "the model's address could not be reached"
}

// Unwrap returns the cause, for the log.
func (e *Error) Unwrap() error { return e.cause }

var errAnswer = errors.New("not an answer of chat completions")

// Ask makes one call. Returns *Error.
func (e Endpoint) Ask(ctx context.Context, messages []Message, tools []Tool, maxTokens int) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(e.URL, "/") + "/"), option.WithMaxRetries(0), option.WithMiddleware(cut),
		option.WithUnsafeAllowHTTP(), // an operator's model may listen on the loopback; customers' addresses are https, see op.Tx.CheckURL
	}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	if e.HTTP != nil {
		options = append(options, option.WithHTTPClient(e.HTTP))
	}
	began := time.Now()
	service := openai.NewChatCompletionService(options...)
	got, err := service.New(ctx, openai.ChatCompletionNewParams{
		Model: e.Model, Messages: params(messages), Tools: offered(tools), MaxTokens: openai.Int(int64(maxTokens)), Temperature: openai.Float(0),
	})
	if err != nil {
		return Answer{}, refusal(ctx, err)
	}
	if len(got.Choices) == 0 {
		return Answer{}, &Error{Again: true, cause: errAnswer}
	}
	said := got.Choices[0].Message
	out := Answer{
		Content: text.Cut(said.Content, maxContent), InputTokens: int(got.Usage.PromptTokens), OutputTokens: int(got.Usage.CompletionTokens),
		Millis: time.Since(began).Milliseconds(), Calls: []Call{},
	}
	for _, c := range said.ToolCalls[:min(maxCalls, len(said.ToolCalls))] {
		arguments := c.Function.Arguments
		if len(arguments) > maxArguments {
			arguments = "" // which is no JSON
		}
		out.Calls = append(out.Calls, Call{ID: text.Cut(c.ID, 100), Name: text.Cut(c.Function.Name, 64), Arguments: strings.ToValidUTF8(arguments, "\uFFFD")})
	}
	if out.InputTokens <= 0 || out.OutputTokens < 0 { // a server that does not count is counted for
		out.InputTokens, out.OutputTokens = estimate(messages), len(out.Content)/4+1
	}
	return out, nil
}

// estimate returns about how many tokens messages are.
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
		return &Error{Status: status.StatusCode, Again: again, cause: fmt.Errorf("status %d", status.StatusCode)} // the rest is somebody else's text
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{Again: true, cause: errAnswer}
	}
	if ctx.Err() != nil {
		return &Error{Again: true, cause: ctx.Err()}
	}
	return &Error{Again: true, cause: err}
}

// cut reads no more of an answer than an answer needs, and nothing of a refusal.
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
		if res.StatusCode < http.StatusBadRequest { // no redirect is followed, and none is an answer
			res.StatusCode = http.StatusBadGateway
		}
	case err != nil:
		return nil, err
	case len(body) > maxAnswer || !json.Valid(body):
		return nil, errAnswer
	}
	res.Header.Set("Content-Type", "application/json") // which some servers forget, and the library asks for
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
					c.Arguments = "{}" // servers that read them would refuse the conversation
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
