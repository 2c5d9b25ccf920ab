// An OpenAI-compatible server with llama.cpp over a model of random weights: its grammar makes every answer well-formed calls of tools,
// and the weights make them mean nothing. It prints its address, works one call at a time, and tells at GET /sent what it was sent.
import http from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { getLlama, LlamaCompletion, LlamaLogLevel } from 'node-llama-cpp';
import { writeModel } from './gguf.mjs';

// What it may name besides the ids that it was sent: rows that no run of the test may touch.
const { dir, seed, ids } = JSON.parse(process.env.CHAOS);
const shown = 600; // the end of a conversation, in bytes: to this author it is all the same

const file = join(dir, 'chaos.gguf');
writeModel(file, seed);
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, progressLogs: false, maxThreads: 1, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 4096, threads: 1 });
const sequence = context.getSequence();
const completion = new LlamaCompletion({ contextSequence: sequence });

const short = { type: 'string', maxLength: 12 };
const anything = { oneOf: [short, { type: 'number' }, { type: 'boolean' }, { type: 'null' }, { type: 'array', items: short, maxItems: 2 }] };
const prefixes = { teamId: 'team_', assigneeId: 'usr_' };

// argument is the grammar of one argument: mostly what its rule says, else anything; an id is one that it was sent or knows of.
function argument(name, rule, known, chance) {
  if (chance(0.04)) return anything;
  if (name === 'confidence') return { enum: [0, 0.5, 0.9, 1] };
  if (/Ids?$|^id$/.test(name)) {
    const fitting = known.filter((id) => id.startsWith(prefixes[name] ?? '')).slice(-8);
    return { enum: fitting.length > 0 && chance(0.7) ? fitting : known.slice(0, 12) };
  }
  if (rule.enum) return { enum: rule.enum };
  const type = Array.isArray(rule.type) ? rule.type[0] : rule.type;
  if (type === 'string') return short;
  if (type === 'object') return { type: 'object', properties: { site: short } };
  return ['boolean', 'integer', 'number'].includes(type) ? { type } : anything;
}

// grammarOf is what the nth answer looks like: one or two calls, of some tools that were offered, and now and then of one that does not
// exist.
function grammarOf({ tools = [], messages }, n) {
  let state = seed * 1000 + n;
  const chance = (share) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 24 < share;
  };
  const known = [...new Set([...ids, ...(JSON.stringify(messages).match(/\b[a-z]{2,4}_[0-9a-z]{26}\b/g) ?? [])])];
  const offered = tools.map((tool) => tool.function).filter(({ name }) => chance({ handOver: 0.1, updateRequest: 0.9 }[name] ?? 0.4));
  if (offered.length === 0 || chance(0.1)) offered.push({ name: 'deleteUser', parameters: { properties: { id: {} }, required: ['id'] } });
  const calls = offered.map(({ name, parameters: { properties, required } }) => {
    const given = Object.entries({ ...properties, companyId: {} }).filter(([key]) => required.includes(key) || chance(key in properties ? 0.5 : 0.04));
    return { type: 'object', properties: {
      name: { const: name },
      arguments: { type: 'object', properties: Object.fromEntries(given.map(([key, rule]) => [key, argument(key, rule, known, chance)])) },
    } };
  });
  return llama.createGrammarForJsonSchema({ type: 'array', items: { oneOf: calls }, minItems: messages.length > 2 && chance(0.6) ? 0 : 1, maxItems: 2 });
}

const sent = [];
async function answer(body) {
  const n = sent.push(body);
  const grammar = await grammarOf(body, n);
  await sequence.clearHistory();
  const prompt = model.tokenize(JSON.stringify(body.messages).slice(-shown));
  const said = await completion.generateCompletion(prompt, { grammar, seed: seed + n, temperature: 1, maxTokens: 600 });
  let calls = [];
  try {
    calls = JSON.parse(said);
  } catch {} // cut off: it has said nothing
  return {
    id: `chaos-${n}`, object: 'chat.completion', created: 1, model: 'chaos', usage: { prompt_tokens: prompt.length, completion_tokens: said.length },
    choices: [{ index: 0, finish_reason: 'stop', message: {
      role: 'assistant', content: calls.length ? '' : said,
      tool_calls: calls.map((call, i) => ({ id: `call_${n}_${i}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } })),
    } }],
  };
}

let turn = Promise.resolve();
const server = http.createServer(async (request, response) => {
  try {
    let result = sent;
    if (request.method === 'POST') {
      const body = await json(request);
      turn = turn.then(() => answer(body), () => answer(body));
      result = await turn;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end('{}');
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
