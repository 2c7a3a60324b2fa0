import { COMPOSE_LABELS, LABELS } from "./labels.ts";

/** Gives the form of a recorded digest that the readers of one stack see. */
export type ShowDigest = (digest: string) => string;

/** Labels whose values are digests of what may hold secrets; compose's has not even a key. */
const DIGESTS: ReadonlySet<string> = new Set([
  ...[LABELS.digest, LABELS.content, COMPOSE_LABELS.configHash],
]);

/** The digest at the end of the name of a volume with copies of files. */
const OF_COPIES = /(?<=_files_)[0-9a-f]{32}$/;

/** True for a label whose value is a digest that readers see in another form. */
export function isDigest(label: string): boolean {
  return DIGESTS.has(label);
}

/** The labels that readers may see, as they see them. */
export function toldLabels(
  labels: Readonly<Record<string, string>>,
  isTold: (name: string) => boolean,
  show: ShowDigest,
): Record<string, string> {
  const told = Object.entries(labels).filter(([name]) => isTold(name)).map(([name, value]) =>
    [name, isDigest(name) ? show(value) : shownName(value, show)] as const
  );
  return Object.fromEntries(told);
}

/** A name of a volume, or a mount of one, as readers see it. */
export function shownName(name: string, show: ShowDigest): string {
  return name.replace(OF_COPIES, show);
}
