import type { Observable } from 'rxjs';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import type { Observer } from '../../runtime/observe.ts';
import type { PerformContext } from '../../runtime/perform-context.ts';
import type { World } from '../../streams/agent/world.ts';
import type { PodActions } from '../../streams/workers/pod-workers.ts';

/** Where the agent passes through that is recorded. Everything that comes out behaves as what went in. */
export interface Tape {
  /** Puts down what the decisions are made on; called once, before anything else has happened. */
  readonly begin: (on: {
    readonly context: PerformContext;
    readonly book: World['facts'];
    readonly kept: World['kept'];
  }) => void;
  /** Every call of the port, and what comes of it. `name` is the one that it has in a {@link PerformContext}. */
  readonly port: <Port extends object>(name: string, port: Port) => Port;
  /** All that work on pods asks of the world. */
  readonly context: (context: PerformContext) => PerformContext;
  /** Takes note of Secrets before anything can tell of them. */
  readonly objects: (objects$: Observable<ObjectSet>) => Observable<ObjectSet>;
  readonly looks: (observer: Observer) => Pick<Observer, 'listPods' | 'observePod'>;
  readonly actions: (actions: PodActions) => PodActions;
  readonly probe: (probe: World['probe']) => World['probe'];
  readonly turned: NonNullable<World['turned']>;
}
