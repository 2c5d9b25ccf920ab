// parted is what of a workflow the builder shows: its outline, its picture or both. Each person's choice stays in their browser.

export const shows = ['both', 'outline', 'picture'] as const;
export type Shows = (typeof shows)[number];

const under = (person: string) => `builder:${person}`;

export const shownBy = (person: string): Shows => shows.find((s) => s === localStorage.getItem(under(person))) ?? 'both';
export const keepShown = (person: string, to: Shows): void => { localStorage.setItem(under(person), to); };
