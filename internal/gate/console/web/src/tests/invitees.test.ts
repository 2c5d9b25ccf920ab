import { describe, expect, it } from 'vitest';
import { invitees, written } from '../pages/people/invitees';

const roles = { words: { member: 'Member', agent: 'Staff', admin: 'Admin', owner: 'Owner' }, may: (r: string) => r !== 'owner', usual: 'member' as const };
const read = (text: string) => invitees(text, roles).map((i) => [i.email, i.name, i.role, ...(i.fault ? [i.fault] : [])]);

describe('a list of people', () => {
  it.each([
    ['ada@x.example', ['ada@x.example', '', 'member']],
    ['  Ada Lovelace <Ada@X.example>  ', ['ada@x.example', 'Ada Lovelace', 'member']],
    ['"Lovelace, Ada" <ada@x.example>', ['ada@x.example', 'Lovelace, Ada', 'member']],
    ['Lovelace, Ada <ada@x.example>', ['ada@x.example', 'Ada Lovelace', 'member']],
    ['ada@x.example, agent', ['ada@x.example', '', 'agent']],
    ['ada@x.example, Staff', ['ada@x.example', '', 'agent']],
    ['Ada Lovelace, ada@x.example, admin', ['ada@x.example', 'Ada Lovelace', 'admin']],
    ['ada@x.example;Ada Lovelace', ['ada@x.example', 'Ada Lovelace', 'member']],
    ['Ada Lovelace\tada@x.example\tagent', ['ada@x.example', 'Ada Lovelace', 'agent']],
    ['agent, ada@x.example', ['ada@x.example', '', 'agent']],
    ['<mailto:ada@x.example>', ['ada@x.example', '', 'member']],
    ['"Ada ""Countess"" Lovelace",ada@x.example', ['ada@x.example', 'Ada "Countess" Lovelace', 'member']],
  ])('takes %j', (text, one) => { expect(read(text)).toEqual([one]); });

  it('takes the addresses of a mail, and lines with nothing in them', () => {
    expect(read('Ada <ada@x.example>; Bob <bob@x.example>, cy@x.example\n\n  \nDi <di@x.example>')).toEqual([
      ['ada@x.example', 'Ada', 'member'], ['bob@x.example', 'Bob', 'member'], ['cy@x.example', '', 'member'], ['di@x.example', 'Di', 'member'],
    ]);
  });

  it('takes a table by its heading, in any order of the columns', () => {
    expect(read('Role,Last name,First name,E-mail\r\nagent,Lovelace,Ada,ada@x.example\r\n,"Hopper, PhD",Grace,grace@x.example\r\n')).toEqual([
      ['ada@x.example', 'Ada Lovelace', 'agent'], ['grace@x.example', 'Grace Hopper, PhD', 'member'],
    ]);
  });

  it('names what is wrong with a line', () => {
    expect(read('Ada Lovelace\nada@\nada@x.example\nADA@x.example\nAda <ada2@x.example>, Boss\ncy@x.example, boss\nbob@x.example, owner')).toEqual([
      ['', 'Ada Lovelace', 'member', 'There is no e-mail address.'],
      ['ada@', '', 'member', '“ada@” is not an e-mail address.'],
      ['ada@x.example', '', 'member'],
      ['ada@x.example', '', 'member', 'This address appears twice.'],
      ['ada2@x.example', 'Ada', 'member', '“Boss” is not a role.'],
      ['cy@x.example', '', 'member', '“boss” is not a role.'],
      ['bob@x.example', '', 'owner', 'You may not invite anybody as Owner.'],
    ]);
    expect(invitees('a@x.example\n\nb', roles).map((i) => i.line)).toEqual([1, 3]);
  });

  it('can be written back and read again', () => {
    for (const one of [{ email: 'ada@x.example', name: 'Lovelace, Ada', role: 'agent' }, { email: 'b@x.example', name: '', role: 'member' }, { email: 'c@x.example', name: 'Cy "C" Young', role: 'admin' }] as const) {
      expect(read(written(one))).toEqual([[one.email, one.name, one.role]]);
    }
  });
});
