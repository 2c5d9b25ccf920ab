import { describe, expect, it } from 'vitest';
import { sizeOf } from '../ui/size';

describe('the size of a file', () => {
  it.each([[0, '0 bytes'], [1, '1 byte'], [999, '999 bytes'], [1000, '1 kB'], [1_540_000, '1.5 MB'], [25_000_000, '25 MB'], [3_000_000_000, '3 GB']])('%d is %s', (bytes, says) => { expect(sizeOf(bytes)).toBe(says); });
});
