// Package model calls language models that speak OpenAI's chat completions with tools: OpenAI's own, Ollama, llama.cpp, vLLM and
// most others. Package agent calls it, outside of any transaction.
//
// The package knows nothing of requests and rights: messages and tools go out; text and tool calls come back, limited in size. A
// call takes at most 60 seconds. The package never retries, and its errors never contain what the other server sent.
package model
