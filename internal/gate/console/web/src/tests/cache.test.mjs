import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { cacheOf } from '../../cache.mjs';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Team implements Node { id: ID! name: String! lead: Who members(after: String): MemberConnection! }
  type Member implements Node { id: ID! }
  type Who { type: String! id: ID! }
  type PageInfo { hasNextPage: Boolean! }
  type TeamConnection { edges: [TeamEdge!]! pageInfo: PageInfo! }
  type TeamEdge { node: Team! }
  type MemberConnection { edges: [MemberEdge!]! pageInfo: PageInfo! }
  type MemberEdge { node: Member! }
  type Query { team(id: ID!): Team teams(after: String): TeamConnection! }
  input TeamInput { id: ID }
  input MemberInput { teamId: ID! }
  type TeamPayload { team: Team! }
  type MemberPayload { member: Member! }
  type Gone { id: ID! }
  type Mutation {
    createTeam(input: TeamInput!): TeamPayload! updateTeam(input: TeamInput!): TeamPayload! deleteTeam(input: TeamInput!): Gone!
    createMember(input: MemberInput!): MemberPayload! deleteMember(input: TeamInput!): Gone! endAll: Boolean
  }
`);
const read = `
  fragment T on Team { id name lead { type id } }
  query Teams($after: String) { teams(after: $after) { edges { node { ...T } } } team(id: "1") { id members(after: $after) { edges { node { id } } } } }
`;
const of = (more) => cacheOf(schema, parse(read + more));

describe('what the cache must know', () => {
  it('follows from the schema and the documents', () => {
    expect(of(`
      mutation A($i: TeamInput!) { createTeam(input: $i) { team { ...T } } }
      mutation B($i: TeamInput!) @refetch(fields: "teams") { updateTeam(input: $i) { team { ...T } } }
      mutation C($i: TeamInput!) { deleteTeam(input: $i) { id } }
      mutation D($i: MemberInput!) { createMember(input: $i) { member { id } } }
      mutation E @refetch(fields: "") { endAll }
    `)).toEqual({
      embedded: ['Who'], paged: { Query: ['teams'], Team: ['members'] },
      stale: { Mutation: { createTeam: ['teams'], updateTeam: ['teams'], deleteTeam: ['teams'], createMember: ['Team.teamId.members'], endAll: [] }, Subscription: {} },
    });
  });
  it.each([
    ['query X { team(id: "1") { name } }', 'Query.team is a row, and is read without its id'],
    ['mutation X { endAll }', 'X: what does endAll make stale?'],
    ['mutation X($i: TeamInput!) { deleteMember(input: $i) { id } }', 'X: what does deleteMember make stale?'],
    ['mutation X @refetch(fields: "crews") { endAll }', 'endAll makes crews stale, which no document reads'],
  ])('is refused where no rule covers it: %s', (text, says) => {
    expect(() => of(text)).toThrow(says);
  });
});
