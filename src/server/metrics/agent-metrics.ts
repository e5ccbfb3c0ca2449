import { assertNever } from '../../model/errors.ts';
import type { Happened } from '../../streams/events/event-log.ts';
import type { ImageGcNote } from '../../streams/image-gc/image-gc.ts';
import type { Tracer } from '../../streams/ports/tracer.ts';
import type { Meter } from '../../streams/ports/meter.ts';
import { single, type Family } from './family.ts';
import { httpMetrics, type HttpMetrics } from './http-metrics.ts';
import { counter, histogram } from './tallies.ts';

/** The one place that counts what the agent does. It costs some map look-ups per event, whether somebody asks or not. */
export interface AgentMetrics {
  readonly meter: Meter;
  /** Counts what happened to a pod. */
  readonly happened: (happening: Happened) => void;
  /** Hears what is traced: some of it is counted. */
  readonly trace: Tracer;
  /** Counts images that were removed. */
  readonly imageGone: (note: ImageGcNote) => void;
  readonly http: HttpMetrics;
  /** What `/metrics` tells of it; the kubelet's names, and units in the names. */
  readonly families: () => readonly Family[];
  /** What `/metrics/probes` tells. */
  readonly probeFamilies: () => readonly Family[];
}

/** Seconds: the kubelet's buckets (facts sheet 26). */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const CALL_BUCKETS = Array.from({ length: 14 }, (_, index) => Number((0.005 * 2.5 ** index).toPrecision(12)));
const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1_200, 1_800, 2_700, 3_600,
];
const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600];

const MB = 1_024 * 1_024;
/** The least size in bytes for each value of `image_size_in_bytes`. */
const IMAGE_SIZES: readonly (readonly [number, string])[] = [
  [100 * 1_024 * MB, 'GT100GB'],
  [60 * 1_024 * MB, '60GB-100GB'],
  [40 * 1_024 * MB, '40GB-60GB'],
  [30 * 1_024 * MB, '30GB-40GB'],
  [20 * 1_024 * MB, '20GB-30GB'],
  [10 * 1_024 * MB, '10GB-20GB'],
  [5 * 1_024 * MB, '5GB-10GB'],
  [1_024 * MB, '1GB-5GB'],
  [500 * MB, '500MB-1GB'],
  [100 * MB, '100MB-500MB'],
  [10 * MB, '10MB-100MB'],
  [1, '0-10MB'],
];

/** Begins at zero, as the agent does. */
export function agentMetrics(): AgentMetrics {
  const calls = counter('kubelet_runtime_operations_total', 'Calls to the container runtime, by kind.');
  const callErrors = counter('kubelet_runtime_operations_errors_total', 'Calls to the runtime that failed, by kind.');
  const callTimes = histogram(
    'kubelet_runtime_operations_duration_seconds',
    'Seconds that calls to the runtime took, by kind.',
    CALL_BUCKETS,
  );
  const sandboxTimes = histogram(
    'kubelet_run_podsandbox_duration_seconds',
    'Seconds that it took to make the sandbox of a pod.',
    CALL_BUCKETS,
  );
  const sandboxErrors = counter('kubelet_run_podsandbox_errors_total', 'Sandboxes that could not be made.');
  const relistTimes = histogram(
    'kubelet_pleg_relist_duration_seconds',
    'Seconds that it took to list all that the runtime holds.',
    DEFAULT_BUCKETS,
  );
  const relistGaps = histogram(
    'kubelet_pleg_relist_interval_seconds',
    'Seconds between the beginnings of two such lists.',
    DEFAULT_BUCKETS,
  );
  const workTimes = histogram(
    'kubelet_pod_worker_duration_seconds',
    'Seconds of one turn of work on a pod, by kind.',
    DEFAULT_BUCKETS,
  );
  const startTimes = histogram(
    'kubelet_pod_start_duration_seconds',
    'Seconds from the first work on a pod until all of its containers have started.',
    START_BUCKETS,
  );
  const containerCounts = histogram(
    'kubelet_containers_per_pod_count',
    'How many containers the pods have that were begun, init containers aside.',
    DEFAULT_BUCKETS,
  );
  const cgroupTimes = histogram(
    'kubelet_cgroup_manager_duration_seconds',
    'Seconds that it took to make, set or remove a cgroup, by which of them.',
    DEFAULT_BUCKETS,
  );
  const pullTimes = histogram(
    'kubelet_image_pull_duration_seconds',
    'Seconds that image pulls took, by the size of the image.',
    PULL_BUCKETS,
  );
  const goneImages = counter(
    'kubelet_image_garbage_collected_total',
    'Images that were removed, by why: to make room, or unused for too long.',
  );
  const startedPods = counter('kubelet_started_pods_total', 'Sandboxes of pods that have been started.');
  const startedPodErrors = counter('kubelet_started_pods_errors_total', 'Sandboxes of pods that could not be started.');
  const startedContainers = counter(
    'kubelet_started_containers_total',
    'Containers that have been started, by their kind; sandboxes of pods among them.',
  );
  const failedStarts = counter(
    'kubelet_started_containers_errors_total',
    'Containers that could not be started, by their kind and why.',
  );
  const restartedPods = counter(
    'kubelet_restarted_pods_total',
    'Pods that began anew under the UID of one that had ended.',
  );
  const rejections = counter('kubelet_admission_rejections_total', 'Times that the node did not take a pod, by why.');
  const preemptions = counter('kubelet_preemptions', 'Pods that were ended to make room for a more important one.');
  const evictions = counter('kubelet_evictions', 'Pods that were evicted, by what they took too much of.');
  const events = counter('rxlet_events_total', 'What happened to pods, by type and reason of the event.');
  const probes = counter('prober_probe_total', 'Questions of probes to containers, by their result.');
  const probeTimes = histogram(
    'prober_probe_duration_seconds',
    'Seconds that containers took to answer a probe.',
    DEFAULT_BUCKETS,
  );
  for (const each of [startedPods, startedPodErrors]) each.add({}, 0);
  restartedPods.add({ static: 'true' }, 0);
  /** Milliseconds since 1970. */
  let lastRelist: number | undefined;
  let lastSeen: number | undefined;
  let sweep = { found: 0, failed: 0 };

  const meter: Meter = (measured) => {
    const seconds = measured.took / 1_000;
    switch (measured.kind) {
      case 'criCall': {
        const { operation, outcome } = measured;
        if (outcome === 'cut') return; // it has not ended
        const failed = outcome === 'failed';
        calls.add({ operation_type: operation });
        callTimes.observe({ operation_type: operation }, seconds);
        if (failed) callErrors.add({ operation_type: operation });
        if (operation === 'run_podsandbox') sandbox(seconds, failed);
        return;
      }
      case 'relist':
        relistTimes.observe({}, seconds);
        if (lastRelist !== undefined) relistGaps.observe({}, Math.max(0, measured.startedAt - lastRelist) / 1_000);
        lastRelist = measured.startedAt;
        if (!measured.failed) lastSeen = measured.startedAt;
        return;
      case 'work': {
        const { uid, operation } = measured;
        workTimes.observe({ operation_type: operation }, seconds);
        if (operation === 'terminated')
          for (const each of [probes, probeTimes]) each.forget(({ pod_uid }) => pod_uid === uid);
        return;
      }
      case 'podStarted':
        startTimes.observe({}, seconds);
        return;
      case 'podBegun':
        containerCounts.observe({}, measured.containers);
        return;
      case 'cgroup':
        cgroupTimes.observe({ operation_type: measured.operation }, seconds);
        return;
      case 'sweep':
        sweep = measured;
        return;
      case 'startFailed':
        failedStarts.add({ container_type: measured.container, code: measured.code });
        return;
      case 'pull':
        pullTimes.observe({ image_size_in_bytes: sizeClass(measured.size) }, seconds);
        return;
      case 'probe': {
        const { probe, result, container, pod, namespace, uid } = measured;
        const whose = { probe_type: PROBE_TYPES[probe], container, pod, namespace };
        probes.add({ ...whose, result, pod_uid: uid });
        probeTimes.observe({ ...whose, pod_uid: uid }, seconds);
        return;
      }
      default:
        assertNever(measured);
    }
  };

  function sandbox(seconds: number, failed: boolean): void {
    sandboxTimes.observe({}, seconds);
    if (failed) {
      sandboxErrors.add({});
      startedPodErrors.add({});
      return;
    }
    startedPods.add({});
    startedContainers.add({ container_type: 'pod_sandbox' });
  }

  const http = httpMetrics();

  return {
    meter,
    http,
    happened: ({ note, pod }) => {
      events.add({ type: note.level, reason: note.reason });
      if (note.reason === 'Preempting') preemptions.add({});
      if (note.reason === 'Evicted') evictions.add({ eviction_signal: limitIn(note.message) });
      if (note.reason !== 'Started' || note.container === undefined) return;
      const isInit = pod?.spec.initContainers?.some(({ name }) => name === note.container) === true;
      startedContainers.add({ container_type: isInit ? 'init_container' : 'container' });
    },
    trace: (fact) => {
      if (fact.kind !== 'phase') return;
      if (fact.to === 'refused') rejections.add({ reason: fact.why?.split(':')[0] ?? '' });
      if (fact.from === 'ended' && fact.to !== 'gone') restartedPods.add({ static: 'true' });
    },
    imageGone: (note) => {
      if (note.kind === 'removed') goneImages.add({ reason: note.reason });
    },
    families: () => [
      ...[calls, callErrors, callTimes, sandboxTimes, sandboxErrors, relistTimes, relistGaps].map((each) =>
        each.family(),
      ),
      {
        name: 'kubelet_pleg_last_seen_seconds',
        help: 'When the runtime was last listed, in seconds since 1970.',
        type: 'gauge',
        samples: lastSeen === undefined ? [] : [{ labels: {}, value: lastSeen / 1_000 }],
      },
      single(
        'kubelet_orphan_pod_cleaned_volumes',
        'Folders of pods that nobody knows, as the last search for them found.',
        sweep.found,
      ),
      single('kubelet_orphan_pod_cleaned_volumes_errors', 'How many of those could not be removed.', sweep.failed),
      ...[
        workTimes,
        containerCounts,
        cgroupTimes,
        startTimes,
        pullTimes,
        goneImages,
        startedPods,
        startedPodErrors,
        startedContainers,
        failedStarts,
        restartedPods,
        evictions,
        rejections,
        preemptions,
        events,
      ].map((each) => each.family()),
      ...http.families(),
    ],
    probeFamilies: () => [probes.family(), probeTimes.family()],
  };
}

function sizeClass(bytes: number): string {
  return IMAGE_SIZES.find(([least]) => bytes >= least)?.[1] ?? 'N/A';
}

/** The kubelet's names of the limits of local storage, by the words with which it tells them. */
function limitIn(message: string): string {
  if (message.startsWith('Usage of EmptyDir')) return 'emptydirfs.limit';
  return message.startsWith('Pod ephemeral') ? 'ephemeralpodfs.limit' : 'ephemeralcontainerfs.limit';
}

const PROBE_TYPES = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;
