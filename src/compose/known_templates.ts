/** Values of templates that a swarm evaluates, as far as they are known. */
interface KnownNames {
  /** The stack, with whose name those of its services and tasks begin. */
  readonly stack: string;
  /** Name of the node; empty if it is not known. */
  readonly node: string;
}

/** Replaces what is known of the templates in a text, so that less fits it. */
export function withKnownNames(written: string, { stack, node }: KnownNames): string {
  const named = written.replace(
    /\{\{\s*\.(?:Service|Task)\.Name\s*\}\}/g,
    (each) => `${stack}_${each}`,
  );
  return node === "" ? named : named.replace(/\{\{\s*\.Node\.Hostname\s*\}\}/g, () => node);
}

const SLOT_OR_ID = /^\{\{\s*\.(?:Task\.Slot|\w+\.ID)\s*\}\}$/;

/**
 * Whether the templates in `written` can yield what `name`, which fits it, has in their place. That
 * of a slot, or of an id, can if it is a number or as long as an id; others always can.
 */
export function mayFill(written: string, name: string): boolean {
  const [from, to] = [written.indexOf("{{"), written.lastIndexOf("}}") + 2];
  if (from < 0 || !SLOT_OR_ID.test(written.slice(from, to))) return true;
  const value = name.slice(from, name.length - (written.length - to));
  return /^(?:\d+|[0-9a-z]{25})$/.test(value);
}
