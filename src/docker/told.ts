import { beginning, COMPOSE_LABELS, errors, LABELS } from "../model/mod.ts";
import { asRecord, asText, asTexts, type Json } from "./json.ts";
import { UNREAD_LABELS } from "./kept_parts.ts";

/** Characters of an id. */
export const LONGEST_ID = 128;
/** Characters of a name and of a path; the kernel allows as many bytes in a path. */
export const LONGEST_NAME = 4096;
/** Characters of a text for people: engines keep 4,096 bytes of what a health check printed. */
const LONGEST_TEXT = 8192;
/** Five times as many as a compose file may give to one thing; images add theirs. */
const MOST_LABELS = 10_000;

/** Labels by which things are told apart, and which are remembered; others are data. */
const NAMING = [
  ...[COMPOSE_LABELS.project, COMPOSE_LABELS.service, LABELS.deployment, LABELS.jobOf],
  LABELS.sourceName,
  "com.docker.stack.namespace",
];

/**
 * A name that an engine tells: what runs, where it lies, or in what state it is. Names are kept, and
 * the engine of another context chooses them.
 *
 * Throws `engine_refused` for a longer one, since a cut one could be that of something else. A list
 * leaves out its entry.
 */
export function asName(value: Json | undefined, most: number = LONGEST_NAME): string {
  const name = asText(value);
  // In the place of a text that was too long to be kept.
  if (value === false) {
    throw errors.engine_refused("the engine tells of something with a long name");
  }
  if (name.length <= most) return name;
  throw errors.engine_refused(
    `the engine tells of something with a name of ${name.length} characters; the most is ${most}`,
  );
}

/** Labels that an engine tells. Throws for too many, and as {@link asName} for those that name. */
export function asLabels(value: Json | undefined): Readonly<Record<string, string>> {
  const labels = asTexts(value);
  for (const each of NAMING) asName(asRecord(value)[each]);
  const count = Object.keys(labels).length;
  if (count <= MOST_LABELS) return labels;
  throw errors.engine_refused(
    `the engine tells of something with ${count} labels; the most is ${MOST_LABELS}`,
  );
}

/** Characters of labels that are read of one thing in a list of everybody's. */
const MOST_READ = 8192;
/** Labels that compose and we give to containers, as long as what their authors wrote. */
const LONG_LABELS: readonly string[] = [...UNREAD_LABELS, COMPOSE_LABELS.configFiles];

/**
 * Labels of one thing in a list of everybody's, of which nobody decides how much memory it takes. Those
 * of compose are absent where they are long, and the longest of others where all are too long: the thing
 * is listed in any case. Throws as {@link asLabels} does, and for names that are too long together.
 */
export function asFewLabels(value: Json | undefined): Readonly<Record<string, string>> {
  const all = Object.entries(asLabels(value));
  const isLong = ([name]: Label) => LONG_LABELS.includes(name);
  const isNaming = ([name]: Label) => NAMING.includes(name);
  const kept = new Map(all.filter((each) => isLong(each) && each[1].length <= LONGEST_NAME));
  const naming = all.filter(isNaming);
  const others = all.filter((each) => !isLong(each) && !isNaming(each));
  let length = naming.reduce((sum, each) => sum + lengthOf(each), 0);
  if (length > MOST_READ) {
    throw errors.engine_refused(
      `the engine tells of something with ${length} characters of labels that name it in a list of ` +
        `everybody's; the most is ${MOST_READ}`,
    );
  }
  for (const each of [...naming, ...others.sort((a, b) => lengthOf(a) - lengthOf(b))]) {
    if (!isNaming(each)) length += lengthOf(each);
    if (length > MOST_READ) break;
    kept.set(...each);
  }
  return Object.fromEntries(kept);
}

type Label = [name: string, text: string];

function lengthOf([name, text]: Label): number {
  return name.length + text.length;
}

/**
 * The name that a thing with these labels counts for in a list of everybody's: the repository with the
 * configuration that deployed it. Networks and volumes name only the one that it was deployed from,
 * which anybody may deploy: they count for that and their stack.
 */
export function whoseLabels(value: Json | undefined): string {
  const labels = asRecord(value);
  const first = (...names: readonly string[]) =>
    names.map((each) => asText(labels[each])).find((name) => name !== "") ?? "";
  const stack = first(COMPOSE_LABELS.project, "com.docker.stack.namespace");
  return first(LABELS.sourceConfiguration) || `${first(LABELS.sourceName)} ${stack}`.trim();
}

/** A text for people that an engine tells, of which the beginning is kept, with `…` where there is more. */
export function asShown(value: Json | undefined, most: number = LONGEST_TEXT): string {
  const text = asText(value);
  return text.length <= most ? text : `${beginning(text, most)}…`;
}
