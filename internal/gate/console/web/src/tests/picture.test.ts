import { describe, expect, it } from 'vitest';
import { drawable, ofPhase, phaseAt, place, placeOf } from '../parts/picture';

describe('the picture of a definition that somebody is still writing', () => {
  it.each([null, [], 'text', 7, {}, { phases: null }, { phases: [null, 1, {}, { id: 3 }], transitions: {} }])('draws nothing of %j', (v) => {
    expect(place(drawable(v))).toEqual([]);
  });
  it('draws what is there, and each id once', () => {
    const d = drawable({ phases: [{ id: 'a', type: 'START' }, { id: 'a', type: 'END' }, { id: 'b', type: 'END' }], transitions: [null, { from: 'a', to: 'b' }] });
    expect(place(d).map((p) => `${p.id} ${p.layer}`)).toEqual(['a 0', 'b 1']);
  });
});

describe('a fault of a definition', () => {
  const sent = { phases: [{ id: 'review', type: 'APPROVAL', name: '' }, { id: 'work', type: 'PROCESS', name: 'Work' }], transitions: [null, { from: 'work', to: 'nowhere' }] };
  const d = drawable(sent);
  it.each([
    ['definition.phases[review]', 'review', 'review', 'No.'],
    ['definition.phases[work].config.title', 'work', 'Work, config.title', 'config.title: No.'],
    ['definition.transitions[1].to', 'work', 'transitions[1].to', 'transition to: No.'],
    ['definition.transitions[0]', '', 'transitions[0]', 'transition: No.'],
    ['definition', '', 'definition', 'No.'],
  ])('at %s is of the phase “%s”, and says where', (field, phase, place_, beside) => {
    expect(phaseAt(sent, field)).toBe(phase);
    expect(placeOf(d, field)).toBe(place_);
    expect(ofPhase({ field, message: 'No.' })).toBe(beside);
  });
});
