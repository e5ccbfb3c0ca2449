import type { Observable } from 'rxjs';
import type { PlanGround } from '../streams/view/plan-ground.ts';
import type { Route } from './route.ts';
import { tell } from './tell.ts';

/** `/rxlet/plan-ground`: what `rxlet plan` compares manifests with. */
export function planRoute(ground$: Observable<PlanGround>): Route {
  return {
    path: '/rxlet/plan-ground',
    access: 'local',
    answer: tell(ground$, (ground) => ({ status: 200, json: ground })),
  };
}
