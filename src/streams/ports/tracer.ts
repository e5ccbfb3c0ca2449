import type { TraceFact } from '../trace/trace-event.ts';

/** Hears what the agent does, as it does it. Quick, and never throws: it is called on the way of the work itself. */
export type Tracer = (fact: TraceFact) => void;

/** Of an agent that nobody watches: what would be traced with it stays as it is. */
export const UNWATCHED: Tracer = () => undefined;
