// accept is which kinds of files a question takes: endings of names, media types, and all of a kind. The server checks them again.
import { t } from '../app/text';

interface Preset { says: string; accept: string[] | null }

// presets are the kinds that people choose from; null takes any file.
export const presets: Record<string, Preset> = {
  any: { says: t('Any file'), accept: null },
  images: { says: t('Images'), accept: ['image/*'] },
  pdf: { says: t('PDF'), accept: ['.pdf'] },
  documents: { says: t('Documents'), accept: ['.pdf', '.docx', '.xlsx', '.pptx', '.odt', '.ods', '.odp', '.rtf', '.txt', '.csv'] },
};

// presetOf is the preset of these kinds; own for others, and for a list that nobody has written anything into.
export function presetOf(accept: string[] | null | undefined): string {
  if (!accept) return 'any';
  return Object.keys(presets).find((k) => JSON.stringify(presets[k]?.accept) === JSON.stringify(accept)) ?? 'own';
}

const plain: Record<string, string> = { 'image/*': t('images'), 'audio/*': t('sound'), 'video/*': t('videos'), '.pdf': t('PDF'), 'application/pdf': t('PDF') };

// kindsOf are the kinds in words.
export const kindsOf = (accept: string[]): string => accept.map((a) => plain[a.toLowerCase()] ?? a).join(', ');

// taken reports whether a file may be of one of the kinds. What a browser does not know, the server does.
export function taken(accept: string[] | null | undefined, file: { name: string; type: string }): boolean {
  if (!accept || accept.length === 0) return true;
  const [name, type] = [file.name.toLowerCase(), file.type.toLowerCase()];
  return accept.map((a) => a.toLowerCase()).some((a) => {
    if (a.startsWith('.')) return name.endsWith(a);
    return type === '' || type === 'application/octet-stream' || (a.endsWith('/*') ? type.startsWith(a.slice(0, -1)) : type === a);
  });
}
