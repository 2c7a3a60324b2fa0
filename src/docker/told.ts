import {
  beginning,
  COMPOSE_LABELS,
  errors,
  LABELS,
  PEER_URL,
  STACK_NAMESPACE,
  SWARM_TASK,
} from "../model/mod.ts";
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

/** Labels that compose and we give to containers, as long as what their authors wrote. */
const LONG_LABELS: readonly string[] = [...UNREAD_LABELS, COMPOSE_LABELS.configFiles];
/** Labels that tell what a thing is and whose, whatever its author wrote; others are data. */
const DECIDING: ReadonlySet<string> = new Set([
  ...[...Object.values(LABELS), ...Object.values(COMPOSE_LABELS)]
    .filter((each) => !LONG_LABELS.includes(each)),
  ...[STACK_NAMESPACE, SWARM_TASK, PEER_URL],
]);

/** In the place of a text that is too long: nothing is called so, and what has it is another's. */
const TOO_LONG = "…";

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

/**
 * As {@link asName}, with a text that nothing has in the place of one that is too long. Never throws: a
 * container with it is there, and is stopped and removed by its id.
 */
export function asAnyName(value: Json | undefined): string {
  const name = value === false ? TOO_LONG : asText(value);
  return name.length <= LONGEST_NAME ? name : TOO_LONG;
}

/**
 * Labels that an engine tells. Of more than {@link MOST_LABELS}, those that decide and the first others; a
 * name that is too long becomes one that nothing has. Never throws: an author who writes labels must not
 * make a thing invisible to those who ask whose it is.
 */
export function asLabels(value: Json | undefined): Readonly<Record<string, string>> {
  const [record, texts] = [asRecord(value), asTexts(value)];
  const deciding = [...DECIDING].filter((name) => record[name] === false || name in texts)
    .map((name) => {
      const text = texts[name] ?? TOO_LONG;
      return [name, text.length > LONGEST_NAME ? TOO_LONG : text] as const;
    });
  const all = Object.entries(texts);
  const isAsTold = deciding.every(([name, text]) => texts[name] === text);
  if (isAsTold && all.length <= MOST_LABELS) return texts;
  return Object.fromEntries([...all.slice(0, MOST_LABELS), ...deciding]);
}

/** Characters of labels that are read of one thing in a list of everybody's. */
const MOST_READ = 8192;
/**
 * Labels of one thing in a list of everybody's, of which nobody decides how much memory it takes. Those
 * of compose are absent where they are long, and the longest of others where all are too long. Those that
 * decide are there in any case: the longest as a text that nothing has.
 */
export function asFewLabels(value: Json | undefined): Readonly<Record<string, string>> {
  const all = Object.entries(asLabels(value));
  const isLong = ([name]: Label) => LONG_LABELS.includes(name);
  const decides = ([name]: Label) => DECIDING.has(name);
  const kept = new Map(all.filter((each) => isLong(each) && each[1].length <= LONGEST_NAME));
  const shortFirst = (labels: Label[]) => labels.sort((a, b) => lengthOf(a) - lengthOf(b));
  const others = all.filter((each) => !isLong(each) && !decides(each));
  let length = 0;
  for (const each of [...shortFirst(all.filter(decides)), ...shortFirst(others)]) {
    length += lengthOf(each);
    if (length <= MOST_READ) kept.set(...each);
    else if (decides(each)) kept.set(each[0], TOO_LONG);
    else break;
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
  const stack = first(COMPOSE_LABELS.project, STACK_NAMESPACE);
  return first(LABELS.sourceConfiguration) || `${first(LABELS.sourceName)} ${stack}`.trim();
}

/** A text for people that an engine tells, of which the beginning is kept, with `…` where there is more. */
export function asShown(value: Json | undefined, most: number = LONGEST_TEXT): string {
  const text = asText(value);
  return text.length <= most ? text : `${beginning(text, most)}…`;
}
