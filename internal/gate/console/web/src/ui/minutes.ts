// minutes are lengths of time as people count them.

// Steps are the units in which a number of minutes is counted, the longest first.
export const steps = { days: 1440, hours: 60, minutes: 1 } as const;
export type Step = keyof typeof steps;

// stepOf is the longest unit of which the minutes are a whole number: 120 are counted in hours, 90 in minutes.
export const stepOf = (minutes: number, of: readonly Step[]): Step => of.find((s) => minutes > 0 && minutes % steps[s] === 0) ?? of.at(-1) ?? 'minutes';
