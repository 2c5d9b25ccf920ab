// work reads how far imports are, and makes and ends them.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { rows, usePages, useWrite } from '../../app/data';
import { faultOf, type Fault } from '../../app/fault';
import { ImportRequests, RequestImportOne, RequestImports, StartRequestImport, StopRequestImport } from '../../gen/documents';
import type { ImportAllFragment, ImportRequestsInput } from '../../gen/types';

const nothing: ImportAllFragment[] = [];

// useImports reads the imports of the company, and all of those that the page is about: once a second while one runs. `put` is for those
// that have just come with an answer.
export function useImports(ids: string[]) {
  const client = useClient();
  const read = usePages(RequestImports, { first: 50 });
  const all = rows(read.data?.requestImports);
  const key = ids.join();
  const [found, setFound] = useState<{ key: string; list: ImportAllFragment[]; fault: Fault | null }>({ key: '', list: [], fault: null });
  const put = useCallback((list: ImportAllFragment[]) => { setFound({ key: list.map((i) => i.id).join(), list, fault: null }); }, []);
  const now = new Map(all.map((i) => [i.id, i]));
  const states = ids.map((id) => now.get(id)?.status).join();
  const missing = key !== '' && found.key !== key;
  const stale = key !== '' && !missing && found.list.some((i) => now.has(i.id) && now.get(i.id)?.status !== i.status);
  const [tries, again] = useState(0);
  useEffect(() => {
    if (!missing && !stale) return undefined;
    let left = false;
    void Promise.all(key.split(',').map((id) => client.query(RequestImportOne, { id }, { requestPolicy: 'network-only' }).toPromise())).then((answers) => {
      if (left) return;
      const fault = answers.map((a) => faultOf(a.error)).find((f) => f) ?? null;
      const list = answers.flatMap((a) => a.data?.requestImport ?? []);
      setFound((was) => (fault && was.key === key ? was : { key, list: fault ? [] : list, fault }));
    });
    return () => { left = true; };
  }, [client, key, states, missing, stale, tries]);
  const parts = found.key !== key ? nothing : found.list.map((i) => ({ ...i, ...now.get(i.id) }));
  const runs = all.some((i) => i.status === 'RUNNING') || parts.some((i) => i.status === 'RUNNING');
  const latest = useRef(read.again);
  latest.current = read.again;
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => { latest.current(); }, 1000);
    return () => { clearInterval(timer); };
  }, [runs]);
  const retry = () => { setFound({ key: '', list: [], fault: null }); again((n) => n + 1); };
  return { read, all, parts, missing, fault: found.key === key ? found.fault : null, put, retry };
}

// useActs are what makes and ends imports. Each of several is asked for after the other, up to the first refusal.
export function useActs() {
  const [make] = useWrite(ImportRequests, true);
  const [begin] = useWrite(StartRequestImport, true);
  const [end] = useWrite(StopRequestImport, true);
  const stop = async (ids: string[]) => {
    let fault: Fault | null = null;
    for (const id of ids) fault = (await end({ input: { id } })).fault ?? fault;
    return fault;
  };
  const check = async (inputs: ImportRequestsInput[], told: (n: number) => void): Promise<{ made: ImportAllFragment[]; fault: Fault | null }> => {
    const made: ImportAllFragment[] = [];
    for (const input of inputs) {
      told(made.length);
      const { data, fault } = await make({ input });
      if (data) made.push(data.importRequests.requestImport);
      if (fault) {
        await stop(made.map((i) => i.id)); // what was checked of a file alone helps nobody
        return { made: [], fault };
      }
    }
    return { made, fault: null };
  };
  const start = async (ids: string[]): Promise<{ begun: ImportAllFragment[]; fault: Fault | null }> => {
    const begun: ImportAllFragment[] = [];
    for (const id of ids) {
      const { data, fault } = await begin({ input: { id, skipFaulty: true } });
      if (fault) return { begun, fault };
      if (data) begun.push(data.startRequestImport.requestImport);
    }
    return { begun, fault: null };
  };
  return { check, start, stop };
}
