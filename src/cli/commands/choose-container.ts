import type { PodView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

export interface Choice {
  readonly container: string;
  /** What to tell who has named none though there are several; else empty. */
  readonly note: string;
}

/** The container that is meant: the one that is named, the default one by its annotation, or the first. */
export function chooseContainer({ pod: { metadata, spec } }: PodView, name: string | undefined): Choice {
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map((container) => container.name);
  const wanted = name ?? metadata.annotations['kubectl.kubernetes.io/default-container'] ?? names[0] ?? '';
  if (!names.includes(wanted))
    throw new CliError(
      EXIT_CODES.usage,
      `the pod ${metadata.name} has no container ${JSON.stringify(wanted)}`,
      `It has ${names.join(', ')}: say which one with -c.`,
    );
  const isGuess = name === undefined && names.length > 1;
  return { container: wanted, note: isGuess ? `Container ${wanted} of ${names.join(', ')}; -c names another.\n` : '' };
}
