// upload sends the bytes of a file: XMLHttpRequest alone tells how far that is. What stands around them goes by GraphQL.
import { t } from './text';

// contentOf is the address of a file's bytes, and previewOf that of a picture of an image whose longer side has at most so many pixels.
export const contentOf = (id: string) => `/v1/attachments/${id}/content`;
export const previewOf = (id: string, size: 320 | 1024) => `/v1/attachments/${id}/preview?size=${size}`;

// upload sends a file, and tells `moved` which share of it is there, 0 to 1. It ends with what went wrong; with '' once all is there.
export function upload(id: string, file: File, moved: (share: number) => void, signal: AbortSignal): Promise<string> {
  return new Promise((done) => {
    const call = new XMLHttpRequest();
    call.open('PUT', contentOf(id));
    call.setRequestHeader('content-type', 'application/octet-stream');
    call.setRequestHeader('x-requested-with', 'console');
    call.upload.onprogress = (e) => { moved(e.loaded / Math.max(1, e.total)); };
    call.onload = () => { done(call.status < 300 ? '' : messageOf(call.responseText) || t('The server did not accept the file.')); };
    call.onerror = () => { done(t('The connection was lost while it was sent.')); };
    call.onabort = () => { done(''); };
    signal.addEventListener('abort', () => { call.abort(); });
    call.send(file);
  });
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? '';
  } catch {
    return '';
  }
}
