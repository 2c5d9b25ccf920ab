package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atrium/internal/platform/strictjson"
)

// request is a body of POST /requests, 500 bytes long.
var request = []byte(`{
  "serviceId": "svc_01JAB2CD3EF4GH5JK6MN7PQ8RS", "offeringId": "off_01JAB2CD3EF4GH5JK6MN7PQ8RT",
  "title": "New laptop for Zo\u00eb, who starts on Monday", "priority": "HIGH",
  "tags": {"site": "Zürich", "floor": "3"},
  "fields": {"model": "14 inch", "memory": 32, "budget": 2499.50, "docking": true, "monitor": null,
    "accessories": ["mouse", "keyboard", "headset"], "costCentre": "CC-4711", "startsOn": "2026-12-01",
    "comment": "Please leave it at the front desk; she will pick it up at 09:00."}}`)

func BenchmarkCheck(b *testing.B) {
	manySmall := "[" + strings.Repeat(string(manyKeys(17))+",", 4000) + "0]"
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"request", request},
		{"text-1MiB", []byte(`{"value":"` + strings.Repeat("lorem ipsum ", 1<<20/12) + `"}`)},
		{"escapes-1MiB", []byte(`{"value":"` + strings.Repeat(`\u00e9`, 1<<20/6) + `"}`)},
		{"keys-100000", manyKeys(100_000)},
		{"objects-of-17-keys", []byte(manySmall)},
		{"numbers-1MiB", []byte("[" + strings.Repeat("12.5,", 1<<20/5) + "0]")},
		{"exponents-1MiB", []byte("[" + strings.Repeat("1e300,", 1<<20/6) + "0]")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := strictjson.Check(c.body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode compares Decode with json.Unmarshal.
func BenchmarkDecode(b *testing.B) {
	b.Run("strictjson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := strictjson.Decode(request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(request, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
