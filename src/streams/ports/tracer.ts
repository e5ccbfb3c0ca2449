import type { TraceFact } from '../trace/trace-event.ts';

/** Hears what the agent does, as it does it. Quick, and never throws: it is called on the way of the work itself. */
export type Tracer = (fact: TraceFact) => void;
