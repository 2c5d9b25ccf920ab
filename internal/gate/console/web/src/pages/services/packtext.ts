// packtext reads the file of a pack.
import { t } from '../../app/text';
import { sizeOf } from '../../ui/size';

const most = 256 << 10; // bytes

// textOf reads a file, or says why it cannot be a pack.
export async function textOf(file: File): Promise<{ source: string } | { says: string }> {
  if (file.size > most) return { says: t('The file is too large: {size}. A pack has at most {most}.', { size: sizeOf(file.size), most: sizeOf(most) }) };
  try {
    return { source: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    return { says: t('This is not a YAML file in UTF-8.') };
  }
}
