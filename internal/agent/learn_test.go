package agent

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/request"
)

// topics are words that requests of a team use; the last ones are everybody's.
var topics = []string{
	"vpn tunnel wifi router network cable internet switch firewall", "laptop screen keyboard mouse printer dock battery fan monitor",
	"password account login locked reset user signon mfa token", "invoice payment refund cost budget purchase order supplier tax",
	"desk chair key badge room parking door window heating", "report dashboard query export table chart number sheet sales",
}

const common = "please help the my is not working broken new since monday urgent need for again cannot and with it"

// seeded returns finished requests: half of them are of the first team, and every fourth word is of a topic.
func seeded(n int, rng *rand.Rand) []*ent.Request {
	words := strings.Fields(common)
	out := make([]*ent.Request, n)
	for i := range out {
		topic := 0
		if rng.IntN(2) == 0 {
			topic = 1 + rng.IntN(len(topics)-1)
		}
		own := strings.Fields(topics[topic])
		var title []string
		for range 8 {
			if rng.IntN(4) == 0 {
				title = append(title, own[rng.IntN(len(own))])
			} else {
				title = append(title, words[rng.IntN(len(words))])
			}
		}
		if rng.IntN(10) == 0 {
			topic = rng.IntN(len(topics)) // people err
		}
		out[i] = &ent.Request{
			ID: fmt.Sprintf("req_%06d", i), Title: strings.Join(title, " "), Priority: request.PriorityMEDIUM, TeamID: new(fmt.Sprint("team_", topic)),
		}
	}
	return out
}

// The engine finds the team 30 points more often than the largest class does.
func TestHistoryBeatsTheMajority(t *testing.T) {
	t.Parallel()
	rows := seeded(maxHistory+400, rand.New(rand.NewPCG(1, 2)))
	c := learn(rows[:maxHistory])
	right, largest, offered := 0, 0, 0
	for _, r := range rows[maxHistory:] {
		words := wordsOf(r)
		near := c.nearest(words)
		g, ok := c.guess(words, near, func(r *ent.Request) string { return *r.TeamID })
		if g.value == *r.TeamID {
			right++
		}
		if ok {
			offered++
			require.NotEmpty(t, g.because)
		}
		if *r.TeamID == "team_0" {
			largest++
		}
	}
	again := learn(rows[:maxHistory])
	require.Equal(t, c.weigh(wordsOf(rows[maxHistory])), again.weigh(wordsOf(rows[maxHistory])), "the same every time")
	t.Logf("right %d, largest class %d, offered %d of 400", right, largest, offered)
	require.GreaterOrEqual(t, right-largest, 120)
}

func BenchmarkDecide(b *testing.B) {
	rows := seeded(maxHistory+1, rand.New(rand.NewPCG(1, 2)))
	h := history{requests: rows[:maxHistory], present: map[string]bool{}}
	for _, r := range h.requests {
		h.present[*r.TeamID] = true
	}
	target := *rows[maxHistory]
	target.TeamID = nil
	for b.Loop() {
		decide(&target, h)
	}
}
