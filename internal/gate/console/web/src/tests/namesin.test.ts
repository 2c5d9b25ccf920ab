import { describe, expect, it } from 'vitest';
import { namesIn } from '../parts/namesin';

describe('a text of the server about people and teams', () => {
  const team = 'team_01k9ye4ryzf7stj6dqnm8x2v3b';
  const says = `Nobody who is responsible for the phase is there: team ${team}, user usr_01k9ye4ryzf7stj6dqnm8x2v3b.`;

  it('shows the names of those that are known', () => {
    expect(namesIn(says, new Map([[team, 'Finance']]))).toBe('Nobody who is responsible for the phase is there: “Finance”, user usr_01k9ye4ryzf7stj6dqnm8x2v3b.');
  });
  it('stays as it is where none are', () => {
    expect(namesIn(says, new Map())).toBe(says);
    expect(namesIn(`${team} is an id alone`, new Map([[team, 'Finance']]))).toBe(`${team} is an id alone`);
  });
});
