// order has a page come in from the top down: what stands below a part that has yet to come is kept out of sight until that part is
// there, so that nothing moves that somebody has begun to read. Such a part is a skeleton, or a Wait where nothing may come of it.
const parts = '.skeleton, .awaited'; // no tone is called so

// longest is how long a page is kept in order, in milliseconds. Then it shows what it has.
const longest = 3000;

// fromTheTop keeps a page in order until nothing of it is missing for the first time; what is read later comes where it comes.
export function fromTheTop(main: HTMLElement): (() => void) | undefined {
  if (!main.querySelector(parts)) return undefined;
  main.dataset['coming'] = '';
  const end = () => {
    delete main.dataset['coming'];
    seen.disconnect();
    clearTimeout(timer);
  };
  const seen = new MutationObserver(() => { if (!main.querySelector(parts)) end(); });
  seen.observe(main, { childList: true, subtree: true });
  const timer = setTimeout(end, longest);
  return end;
}
