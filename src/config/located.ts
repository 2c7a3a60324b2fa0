import { clip } from "../model/mod.ts";

/** The position of a value in its text; both 1-based, columns in UTF-16 units as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A value of a configuration that knows where and how it was written; parsed JSON has no `at`. */
export type Located = LocatedScalar | LocatedList | LocatedMap | LocatedNull;

/** Nothing: `null`, `~` or an empty place. Means "not set" wherever it may stand. */
interface LocatedNull {
  readonly kind: "null";
  readonly at: Position | undefined;
}

interface LocatedScalar {
  readonly kind: "scalar";
  readonly value: string | number | boolean;
  /** What the author typed, so that `010` and `1.10` stay what they are. */
  readonly text: string;
  /** Without quotes or a block indicator: only such text may be a `yes` or `off`. */
  readonly plain: boolean;
  readonly at: Position | undefined;
}

interface LocatedList {
  readonly kind: "list";
  readonly items: readonly Located[];
  readonly at: Position | undefined;
}

/** A mapping, in the order of its text, merge keys resolved. */
export interface LocatedMap {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, LocatedEntry>;
  readonly at: Position | undefined;
}

/** One entry of a mapping. */
export interface LocatedEntry {
  /** Where the key is written. */
  readonly at: Position | undefined;
  readonly value: Located;
}

/** One document of a stream. */
export interface LocatedDocument {
  /** 1-based, counting empty documents too, as a reader of the file counts. */
  readonly number: number;
  readonly root: Located;
}

const SHOWN = 40;

/** The description of a value, for the second half of "expected …, found …"; long text is cut. */
export function describeLocated(node: Located): string {
  switch (node.kind) {
    case "null":
      return "nothing";
    case "list":
      return "a list";
    case "map":
      return "a mapping";
    case "scalar":
      return typeof node.value === "string"
        ? `the text ${JSON.stringify(clip(node.value, SHOWN))}`
        : clip(node.text, SHOWN);
  }
}

/**
 * The position of the value at a dotted key path such as `build.args` or
 * `oci.keyless_identities[0].issuer`; where that does not exist, of the nearest value around it.
 */
export function positionAt(node: Located, path: string): Position | undefined {
  let current = node;
  let at = node.at;
  for (const part of path.split(/[.[\]]+/).filter((text) => text !== "")) {
    const next = child(current, part);
    if (next === undefined) return at;
    current = next;
    at = next.at ?? at;
  }
  return at;
}

function child(node: Located, part: string): Located | undefined {
  if (node.kind === "map") return node.entries.get(part)?.value;
  if (node.kind === "list") return node.items[Number(part)];
  return undefined;
}
