// Package model asks language models that speak OpenAI's chat completions with tools: OpenAI's own, Ollama, llama.cpp, vLLM and most
// others. Package agent calls it, outside of any transaction.
//
// It knows nothing of requests and rights: messages and tools go out, text and calls of tools come back, cut to size. A call takes
// 60 seconds at most, is never repeated here, and what fails says only why in general: an answer of somebody else's server is
// shown to nobody.
package model
