// Writes a language model that knows nothing, as llama.cpp reads it: llama's architecture, a token for each byte, two small layers
// of seeded random weights, half a megabyte.
import { writeFileSync } from 'node:fs';

const [U32, F32, BOOL, STRING, ARRAY, I32] = [4, 6, 7, 8, 9, 5]; // types of metadata
const width = 64;
const hidden = 128;
const layers = 2;
const special = ['<unk>', '<s>', '</s>'];
const tokens = [...special, ...Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)];

// random returns numbers that look normally distributed, the same for the same seed.
function random(seed) {
  let state = seed >>> 0;
  const uniform = () => { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => uniform() + uniform() + uniform() + uniform() - 2;
}

export function writeModel(path, seed) {
  const next = random(seed);
  const tensors = [];
  const tensor = (name, shape, value) => tensors.push({ name, shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, value) });
  const norm = (name) => tensor(name, [width], () => 1);
  tensor('token_embd.weight', [width, tokens.length], next);
  for (let i = 0; i < layers; i++) {
    norm(`blk.${i}.attn_norm.weight`);
    for (const name of ['q', 'k', 'v', 'output']) tensor(`blk.${i}.attn_${name}.weight`, [width, width], () => next() / 4);
    norm(`blk.${i}.ffn_norm.weight`);
    for (const name of ['gate', 'up']) tensor(`blk.${i}.ffn_${name}.weight`, [width, hidden], () => next() / 4);
    tensor(`blk.${i}.ffn_down.weight`, [hidden, width], () => next() / 4);
  }
  norm('output_norm.weight');
  tensor('output.weight', [width, tokens.length], () => next() / 4);

  const parts = [];
  const bytes = (length, write) => { const b = Buffer.alloc(length); write(b); parts.push(b); };
  const u32 = (n) => bytes(4, (b) => b.writeUInt32LE(n));
  const u64 = (n) => bytes(8, (b) => b.writeBigUInt64LE(BigInt(n)));
  const string = (s) => { u64(Buffer.byteLength(s)); parts.push(Buffer.from(s)); };
  const value = {
    [U32]: u32, [I32]: (n) => bytes(4, (b) => b.writeInt32LE(n)), [F32]: (n) => bytes(4, (b) => b.writeFloatLE(n)),
    [BOOL]: (yes) => bytes(1, (b) => b.writeUInt8(yes ? 1 : 0)), [STRING]: string,
  };
  const metadata = [
    ['general.architecture', STRING, 'llama'], ['general.name', STRING, 'chaos'], ['llama.context_length', U32, 4096], ['llama.embedding_length', U32, width],
    ['llama.block_count', U32, layers], ['llama.feed_forward_length', U32, hidden], ['llama.attention.head_count', U32, 4],
    ['llama.attention.head_count_kv', U32, 4], ['llama.attention.layer_norm_rms_epsilon', F32, 1e-5], ['llama.rope.dimension_count', U32, width / 4],
    ['llama.vocab_size', U32, tokens.length], ['tokenizer.ggml.model', STRING, 'llama'], ['tokenizer.ggml.tokens', ARRAY, tokens, STRING],
    ['tokenizer.ggml.scores', ARRAY, tokens.map(() => 0), F32],
    ['tokenizer.ggml.token_type', ARRAY, tokens.map((_, i) => [2, 3, 3][i] ?? 6), I32], // unknown, control, byte
    ['tokenizer.ggml.unknown_token_id', U32, 0], ['tokenizer.ggml.bos_token_id', U32, 1], ['tokenizer.ggml.eos_token_id', U32, 2],
    ['tokenizer.ggml.add_space_prefix', BOOL, false],
  ];
  parts.push(Buffer.from('GGUF'));
  u32(3); // of the format
  u64(tensors.length);
  u64(metadata.length);
  for (const [key, type, what, of] of metadata) {
    string(key);
    u32(type);
    if (type === ARRAY) {
      u32(of);
      u64(what.length);
      what.forEach(value[of]);
    } else {
      value[type](what);
    }
  }
  const aligned = (n) => Math.ceil(n / 32) * 32;
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    string(name);
    u32(shape.length);
    shape.forEach(u64);
    u32(0); // F32
    u64(offset);
    offset += aligned(data.byteLength);
  }
  const head = parts.reduce((n, b) => n + b.length, 0);
  parts.push(Buffer.alloc(aligned(head) - head));
  for (const { data } of tensors) parts.push(Buffer.from(data.buffer), Buffer.alloc(aligned(data.byteLength) - data.byteLength));
  writeFileSync(path, Buffer.concat(parts));
}
