// Package strictjson refuses the JSON that other parsers read in different ways.
//
// encoding/json keeps the last of two equal keys, replaces invalid UTF-8 and lone surrogates by U+FFFD, and nests
// 10,000 deep. Each of those lets a body mean one thing to a gateway and another to us, so the REST door runs Check
// over a body before anything binds it. What Check accepts, encoding/json accepts too, and reads without losing a
// key (a fuzz target holds that).
//
// Refused: syntax errors, data after the value, a key twice in one object (compared after unescaping, so "a" equals
// "\u0061"), a byte-order mark, invalid UTF-8, a \u escape of half a surrogate pair, more than MaxDepth levels of
// nesting, a number that is no finite double (1e999; 1e-999 is zero), an empty body.
//
// Check reads the bytes once, in linear time whatever the keys are: up to linearKeys keys of an object are compared
// by their hashes, more go into a hash set. Hashes are seeded per process, so nobody can aim at collisions. It
// allocates nothing for bodies of usual size. Decode is the same pass and builds the value on the way.
//
// The package never sees a schema and never limits the size of a body: that is the caller's http.MaxBytesReader.
// U+0000 is JSON and passes, although PostgreSQL stores it in no text; the input's validation rules refuse it.
package strictjson
