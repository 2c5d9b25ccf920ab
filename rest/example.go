package rest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/op/input"
)

// example returns an example of type t as JSON for the OpenAPI document: the value of the tag `example`, or else the first value
// of the tag `enum`, or null for the tag `exampleNull`. An object has all of its fields in the struct's order; a list of objects has one element. A value without an
// example is null if it may be null. Otherwise it is empty, true for a boolean, and a fixed time for a Time.
func example(t reflect.Type, tag reflect.StructTag) json.RawMessage {
	text := tag.Get("example")
	if text == "" {
		text, _, _ = strings.Cut(tag.Get("enum"), ",")
	}
	switch kind := t.Kind(); {
	case tag.Get("exampleNull") == "true", text == "" && (tag.Get("nullable") == "true" || kind == reflect.Pointer && t.Elem().Kind() != reflect.Struct):
		return json.RawMessage("null")
	case kind == reflect.Pointer:
		return example(t.Elem(), tag)
	case kind == reflect.Struct:
		return exampleObject(t)
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return slices.Concat([]byte("["), exampleObject(t.Elem()), []byte("]"))
	case t == reflect.TypeFor[Time]() && text == "":
		return json.RawMessage(`"2026-03-02T09:30:00.000Z"`)
	case kind == reflect.String:
		return quoted(text)
	case text != "":
		return json.RawMessage(text)
	case kind == reflect.Bool:
		return json.RawMessage("true")
	case kind == reflect.Map || t.Elem().Kind() == reflect.Uint8:
		return json.RawMessage("{}")
	}
	return json.RawMessage("[]")
}

func exampleObject(t reflect.Type) json.RawMessage { return ordered(exampleFields(t)) }

// exampleFields returns an object's fields, including those of embedded structs. It leaves out a null field that JSON may omit.
func exampleFields(t reflect.Type) []exampleField {
	var fields []exampleField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			fields = append(fields, exampleFields(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if value := example(f.Type, f.Tag); string(value) != "null" || !strings.Contains(options, "omit") {
			fields = append(fields, exampleField{name, value})
		}
	}
	return fields
}

// exampleInput returns an example of an operation's body: the required fields and those with a tag `example`, or only the first
// field if none is required. A field without an example takes that of the resource's field of the same name, or else its first
// enum value.
func exampleInput(in *input.Input, resource reflect.Type) json.RawMessage {
	texts := map[string]string{}
	for _, f := range reflect.VisibleFields(resource) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		texts[name] = f.Tag.Get("example")
	}
	var fields []exampleField
	for i, f := range reflect.VisibleFields(in.BodyType) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		text := f.Tag.Get("example")
		if text == "" && !slices.Contains(in.Body.Required, name) && (i > 0 || len(in.Body.Required) > 0) {
			continue
		}
		if text == "" {
			text = texts[name]
		}
		if text == "" {
			text, _, _ = strings.Cut(f.Tag.Get("enum"), ",")
		}
		value := json.RawMessage(text)
		if in.Body.Properties[name].Type == huma.TypeString {
			value = quoted(text)
		}
		fields = append(fields, exampleField{name, value})
	}
	return ordered(fields)
}

type exampleField struct {
	name  string
	value json.RawMessage
}

// ordered writes an object and keeps the order of its fields.
func ordered(fields []exampleField) json.RawMessage {
	b := bytes.NewBufferString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quoted(text string) json.RawMessage {
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// exampleID returns the example id of the resource that the collection at a path lists.
func exampleID(path string) any {
	for i := range routes {
		if rt := &routes[i]; collection(rt.path) == collection(path) && rt.resource != nil {
			f, _ := rt.resource.FieldByName("ID")
			return f.Tag.Get("example")
		}
	}
	return nil
}
