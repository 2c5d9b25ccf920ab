package history

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"atrium/ent"
)

const (
	neighbours = 10  // nearest requests that vote
	named      = 3   // of them, how many a rationale names
	certain    = 0.5 // minimum confidence of a proposed value
	sure       = 0.8 // minimum confidence of a proposed offering, because a wrong one costs more
	smoothing  = 0.1 // of naive Bayes
)

// example is a finished request as the engine sees it.
type example struct {
	id     string
	words  map[string]float64 // TF-IDF weights, as a vector of length 1
	counts map[string]float64
	Row    *ent.Request
}

// Corpus holds the examples on which guesses are based.
type Corpus struct {
	examples []example
	idf      map[string]float64
}

// WordsOf returns the number of occurrences of each word in a request. Its service and offering count as words.
func WordsOf(r *ent.Request) map[string]float64 {
	out := writtenWords(r)
	out["service:"+r.ServiceID], out["offering:"+r.OfferingID] = 1, 1
	return out
}

// writtenWords returns the number of occurrences of each word in a request's title and description.
func writtenWords(r *ent.Request) map[string]float64 {
	out := map[string]float64{}
	text := strings.ToLower(r.Title + " " + r.Description)
	for w := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len(w) > 1 {
			out[w]++
		}
	}
	return out
}

// Learn computes the TF-IDF weights of finished requests.
func Learn(rows []*ent.Request) *Corpus {
	c := &Corpus{idf: map[string]float64{}}
	for _, r := range rows {
		e := example{id: r.ID, counts: WordsOf(r), Row: r}
		for w := range e.counts {
			c.idf[w]++
		}
		c.examples = append(c.examples, e)
	}
	for w, n := range c.idf {
		c.idf[w] = math.Log(1 + float64(len(rows))/n)
	}
	for i := range c.examples {
		c.examples[i].words = c.weigh(c.examples[i].counts)
	}
	return c
}

// weigh returns the TF-IDF weights of words as a vector of length 1. Words that are in no example weigh nothing.
func (c *Corpus) weigh(counts map[string]float64) map[string]float64 {
	out, sum := make(map[string]float64, len(counts)), 0.0
	for _, w := range slices.Sorted(maps.Keys(counts)) {
		v := (1 + math.Log(counts[w])) * c.idf[w]
		out[w] = v
		sum += v * v
	}
	if sum == 0 {
		return out
	}
	for w := range out {
		out[w] /= math.Sqrt(sum)
	}
	return out
}

// Near is an example with its cosine similarity to a request, from 0 to 1.
type Near struct {
	*example
	likeness float64
}

// Nearest returns the examples that are similar to a request, most similar first.
func (c *Corpus) Nearest(counts map[string]float64) []Near {
	words := c.weigh(counts)
	order := slices.Sorted(maps.Keys(words)) // a fixed order, because it changes the rounding of sums
	var out []Near
	for i := range c.examples {
		e := &c.examples[i]
		dot := 0.0
		for _, w := range order {
			dot += words[w] * e.words[w]
		}
		if dot > 0 {
			out = append(out, Near{e, dot})
		}
	}
	slices.SortFunc(out, func(a, b Near) int { return cmp.Or(cmp.Compare(b.likeness, a.likeness), strings.Compare(b.id, a.id)) })
	return out
}

// Guess is a value for a field, with its evidence.
type Guess struct {
	Value      string
	confidence float64
	because    []string // ids of the nearest requests that have the value
}

// guess returns the most likely value of label for the words; false if its confidence is below 0.5. The confidence is the mean of
// the naive Bayes probability and the share among the nearest requests.
func (c *Corpus) guess(counts map[string]float64, near []Near, label func(*ent.Request) string) (Guess, bool) {
	bayes := c.bayes(counts, label)
	votes, all := map[string]float64{}, 0.0
	for _, n := range near[:min(neighbours, len(near))] {
		votes[label(n.Row)] += n.likeness
		all += n.likeness
	}
	var best Guess
	for _, value := range slices.Sorted(maps.Keys(bayes)) {
		p := bayes[value] / 2
		if all > 0 {
			p += votes[value] / all / 2
		}
		if p > best.confidence {
			best = Guess{Value: value, confidence: p}
		}
	}
	if best.Value == "" || best.confidence < certain {
		return best, false
	}
	for _, n := range near {
		if label(n.Row) == best.Value && len(best.because) < named {
			best.because = append(best.because, n.id)
		}
	}
	return best, len(best.because) > 0
}

// bayes returns the probability of each value for the words, by multinomial naive Bayes.
func (c *Corpus) bayes(counts map[string]float64, label func(*ent.Request) string) map[string]float64 {
	type class struct {
		rows, total float64
		words       map[string]float64
	}
	classes := map[string]*class{}
	for i := range c.examples {
		e := &c.examples[i]
		k := classes[label(e.Row)]
		if k == nil {
			k = &class{words: map[string]float64{}}
			classes[label(e.Row)] = k
		}
		k.rows++
		for w, n := range e.counts {
			k.words[w] += n
			k.total += n
		}
	}
	logs, highest := map[string]float64{}, math.Inf(-1)
	order := slices.Sorted(maps.Keys(counts))
	for value, k := range classes {
		p := math.Log(k.rows / float64(len(c.examples)))
		for _, w := range order {
			if c.idf[w] > 0 {
				p += counts[w] * math.Log((k.words[w]+smoothing)/(k.total+smoothing*float64(len(c.idf))))
			}
		}
		logs[value] = p
		highest = max(highest, p)
	}
	sum := 0.0
	for _, value := range slices.Sorted(maps.Keys(logs)) {
		logs[value] = math.Exp(logs[value] - highest)
		sum += logs[value]
	}
	for value := range logs {
		logs[value] /= sum
	}
	return logs
}
