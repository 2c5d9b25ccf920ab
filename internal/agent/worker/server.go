package worker

import (
	"net/http"

	"atrium/internal/agent/model"
	"atrium/internal/op"
)

// Server is what a server gives to its agents.
type Server struct {
	Engine *op.Engine
	Models Models
}

// Models holds the endpoints of language models.
type Models struct {
	HTTP    *http.Client   // the guarded client, for endpoints that companies choose
	Default model.Endpoint // the server's own model; without a URL there is none
}

func (s Server) server() Server { return s }

// ServerOf returns the server on which an operation runs; an empty one if it has no agents. The engine's Agents embed it.
func ServerOf(tx *op.Tx) Server {
	if a, ok := tx.Agents().(interface{ server() Server }); ok {
		return a.server()
	}
	return Server{}
}
