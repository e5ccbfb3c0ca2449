/** For what comes about in real time: far more than anything should take, so that only what never comes fails. */
export const PATIENT = { timeout: 60_000 } as const;
