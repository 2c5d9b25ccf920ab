package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"atrium/internal/agent/model"
	"atrium/internal/agent/worker"
)

// modelFlags name the operator's language model, for agents whose company has none of its own.
type modelFlags struct {
	ModelURL     string `help:"Address of a language model that speaks OpenAI's chat completions, for agents whose company names none of its own; http or https, with what stands before chat/completions. Its operator is told what requests say."`
	ModelKeyFile string `help:"File of its key." type:"path"`
	Model        string `help:"The model's name there."`
}

// models returns the configuration of the agents' language models.
func (s *server) models() (worker.Models, error) {
	out := worker.Models{HTTP: s.outside.HTTP()}
	if s.ModelURL == "" {
		if s.ModelKeyFile != "" || s.Model != "" {
			return out, errors.New("--model and --model-key-file take --model-url")
		}
		return out, nil
	}
	if u, err := url.Parse(s.ModelURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return out, errors.New("--model-url must be an http or https address")
	}
	if s.Model == "" {
		return out, errors.New("--model-url takes --model")
	}
	out.Default = model.Endpoint{URL: s.ModelURL, Model: s.Model, HTTP: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if s.ModelKeyFile != "" {
		key, err := os.ReadFile(s.ModelKeyFile)
		if err != nil {
			return out, fmt.Errorf("--model-key-file: %w", err)
		}
		out.Default.Key = strings.TrimSpace(string(key))
	}
	return out, nil
}
