package registry

import (
	"context"
	"reflect"
	"slices"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// Entity is an object of the schema that is listed or has an id of its own.
type Entity struct {
	Type   string // in the schema: "Service"
	Inputs string // prefix of the names of its filter, order and sort: the type, unless the row says otherwise
	Go     reflect.Type

	Prefix string // of its ids; empty when it is no Node
	Get    *op.Info
	Node   func(ctx context.Context, e *op.Engine, id string) (any, error)
	Alone  bool // whether Query has a field for one row, besides node
	Edges  bool // edges may lead to it
	Whole  bool // its rows hang on others, all at once: no connection pages them

	List   *op.Info
	ListIn reflect.Type // the input of List
	Field  string       // of Query that lists it; empty when it is listed elsewhere, or by a hand-written field
}

// property is a part of an entity's row.
type property func(*Entity)

func entity(typ string, properties ...property) Entity {
	e := Entity{Type: typ, Inputs: typ}
	for _, p := range properties {
		p(&e)
	}
	return e
}

// inputs sets another name than the type for the entity's filter, order and sort.
func (e Entity) inputs(name string) Entity {
	e.Inputs = name
	return e
}

// node makes the entity a Node: Query's field node reads it by id.
func node[Row any](o *op.Operation[op.ByID, *Row]) property {
	return func(e *Entity) {
		e.Get, e.Go = o.Info(), reflect.TypeFor[Row]()
		e.Prefix = ent.Entities[slices.IndexFunc(ent.Entities, func(of *ent.Entity) bool { return of.Row == e.Go })].Prefix
		e.Node = func(ctx context.Context, engine *op.Engine, id string) (any, error) {
			row, _, err := op.Run(ctx, engine, o, op.ByID{ID: id}, nil)
			return row, err
		}
	}
}

// get is node, plus a field of Query for one row.
func get[Row any](o *op.Operation[op.ByID, *Row]) property {
	return func(e *Entity) {
		node(o)(e)
		e.Alone = true
	}
}

// list lists the entity by a field of Query. An empty field name means that the field is hand-written.
func list[In, Row any](field string, o *op.Operation[In, paging.List[*Row]]) property {
	return func(e *Entity) {
		e.Field, e.List, e.ListIn, e.Go = field, o.Info(), reflect.TypeFor[In](), reflect.TypeFor[Row]()
	}
}

// paged marks an entity that is listed only below others.
func paged[In, Row any](_ *op.Operation[In, map[string]paging.List[*Row]]) property {
	return func(e *Entity) { e.Go = reflect.TypeFor[Row]() }
}

// attached marks an entity whose rows hang on others, all of them at once.
func attached[Row any](_ *op.Operation[paging.ByIDs, map[string][]*Row]) property {
	return func(e *Entity) { e.Go, e.Whole = reflect.TypeFor[Row](), true }
}

// lookUp lets edges lead to the entity: o reads many rows at once.
func lookUp[Row any](_ *op.Operation[paging.ByIDs, map[string]*Row]) property {
	return func(e *Entity) { e.Edges = true }
}

// Mutation is a field of Mutation.
type Mutation struct {
	Name    string // "createService"
	About   string // the input's field for the id that REST has in its path; empty for none
	Op      *op.Info
	In, Out reflect.Type
}

func mutation[In, Out any](name string, o *op.Operation[In, Out]) Mutation {
	m := Mutation{Name: name, Op: o.Info(), In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out]()}
	for _, p := range o.Info().Input.Params {
		if p.In == "path" {
			m.About = p.Name
		}
	}
	return m
}

// about names the input's field for the id that REST has in its path, where it is not "id".
func (m Mutation) about(field string) Mutation {
	m.About = field
	return m
}
