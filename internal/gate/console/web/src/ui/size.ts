import { locale } from '../app/text';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

// sizeOf is a number of bytes as people write it, such as 1.5 MB.
export function sizeOf(bytes: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return (bytes / 1000 ** step).toLocaleString(locale, { style: 'unit', unit: units[step], unitDisplay: step === 0 ? 'long' : 'short', maximumFractionDigits: step === 0 ? 0 : 1 });
}
