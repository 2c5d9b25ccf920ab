package webhook

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/op/events"
)

// object is a JSON object of the document. Its keys are written in their alphabetical order.
type object = map[string]any

// AsyncAPI returns the AsyncAPI 3 document of the events that webhooks carry, as JSON. It is derived from the types that are
// sent. baseURL is the product's own, for the reader of the document; the receivers are the customers'.
func AsyncAPI(baseURL string) ([]byte, error) {
	schemas := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, _ string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return t.Name()
	})
	messages, payloads, operations, refs := object{}, object{}, object{}, []any{}
	for _, k := range events.All {
		name := messageName(k.Name)
		payload, err := payloadSchema(schemas, k)
		if err != nil {
			return nil, err
		}
		payloads[name] = payload
		messages[name] = message(k, name)
		refs = append(refs, object{"$ref": "#/channels/subscription/messages/" + name})
	}
	operations["deliver"] = object{
		"action": "send", "channel": object{"$ref": "#/channels/subscription"},
		"summary":     "Deliver an event to a subscription.",
		"description": deliverText,
		"bindings":    object{"http": object{"method": "POST", "bindingVersion": "0.3.0"}},
		"messages":    refs,
	}
	components, err := plainSchemas(schemas)
	if err != nil {
		return nil, err
	}
	for name, p := range payloads {
		components[name] = p
	}
	doc := object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Atrium webhooks", "version": "1",
			"description":  "The events that " + baseURL + " tells subscribed addresses of, signed as Standard Webhooks specifies.",
			"externalDocs": object{"description": "Standard Webhooks: how to verify a signature", "url": "https://www.standardwebhooks.com"},
		},
		"defaultContentType": "application/json",
		"channels": object{"subscription": object{
			"title": "A subscription", "address": "{url}",
			"description": "The https URL of a webhook subscription. Each subscription chooses its events.",
			"parameters":  object{"url": object{"description": "Where the subscription's deliveries go."}},
			"messages":    channelMessages(messages),
		}},
		"operations": operations,
		"components": object{"messages": messages, "schemas": components, "messageTraits": object{"signed": signedTrait}},
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the AsyncAPI document: %w", err)
	}
	return append(out, '\n'), nil
}

const deliverText = "One POST an attempt. Any answer with a 2xx status within 30 seconds is a success. 410 disables the subscription. " +
	"Anything else, redirects included, is tried again after 30 seconds, 2 minutes, 10 minutes, 1 hour and 6 hours, unless the operator has set other waits, " +
	"or later where Retry-After asks for it, up to the length of the following step. " +
	"An event may arrive more than once: webhook-id is the same each time. Events of one resource arrive in the order of their sequence, " +
	"except that those after a failed attempt do not wait for its retries."

const sequenceText = "Numbers the events of one resource, from 1: of a request (request.* and sla.*), an execution (workflow.*) or a task (task.*). " +
	"All of them count, also those that the subscription does not get. 0 for an event from before there were numbers."

var signedTrait = object{
	"headers": object{
		"type":     "object",
		"required": []string{"webhook-id", "webhook-timestamp", "webhook-signature"},
		"properties": object{
			"webhook-id":        object{"type": "string", "pattern": "^evt_[0-9a-z]{26}$", "description": "The event: the same on every retry and replay."},
			"webhook-timestamp": object{"type": "string", "pattern": "^[0-9]+$", "description": "When this attempt was sent, in seconds since 1970."},
			"webhook-signature": object{
				"type": "string", "pattern": "^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$",
				"description": "HMAC-SHA256 of \"id.timestamp.body\" in base64, once for each signing secret: two while a rotation overlaps.",
			},
		},
	},
}

// messageName turns an event's name into a component's: request.created is requestCreated.
func messageName(event string) string {
	noun, verb, _ := strings.Cut(event, ".")
	return noun + strings.ToUpper(verb[:1]) + verb[1:]
}

func message(k events.Kind, name string) object {
	return object{
		"name": k.Name, "title": k.Name, "summary": k.Meaning,
		"traits":  []any{object{"$ref": "#/components/messageTraits/signed"}},
		"payload": object{"$ref": "#/components/schemas/" + name},
		"examples": []any{object{"name": k.Name, "payload": object{
			"event": k.Name, "timestamp": "2027-01-15T10:00:00.000Z", "sequence": 1, "data": k.Example,
		}}},
	}
}

func channelMessages(messages object) object {
	out := object{}
	for name := range messages {
		out[name] = object{"$ref": "#/components/messages/" + name}
	}
	return out
}

// payloadSchema returns the schema of a whole body, and adds the schema of its data to the registry.
func payloadSchema(schemas huma.Registry, k events.Kind) (object, error) {
	data := schemas.Schema(reflect.TypeOf(k.Example), true, "")
	if data.Ref == "" {
		return nil, fmt.Errorf("the data of %s is no struct", k.Name)
	}
	return object{
		"type": "object", "description": k.Meaning, "required": []string{"event", "timestamp", "sequence", "data"},
		"properties": object{
			"event":     object{"type": "string", "const": k.Name},
			"timestamp": object{"type": "string", "format": "date-time", "description": "When it happened, in UTC with milliseconds."},
			"sequence":  object{"type": "integer", "format": "int64", "minimum": 0, "description": sequenceText},
			"data":      object{"$ref": data.Ref},
		},
	}, nil
}

// plainSchemas returns the registry's schemas as JSON objects. They allow additional fields, because later versions may add some.
// A field that refers to an object may be null.
func plainSchemas(schemas huma.Registry) (object, error) {
	out := object{}
	for name, s := range schemas.Map() {
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("write the schema %s: %w", name, err)
		}
		var plain object
		if err := json.Unmarshal(raw, &plain); err != nil {
			return nil, fmt.Errorf("read the schema %s: %w", name, err)
		}
		delete(plain, "additionalProperties")
		properties, _ := plain["properties"].(object)
		for field, p := range properties {
			if ref, ok := p.(object)["$ref"]; ok {
				properties[field] = object{"oneOf": []any{object{"$ref": ref}, object{"type": "null"}}, "description": p.(object)["description"]}
			}
		}
		out[name] = plain
	}
	return out, nil
}
