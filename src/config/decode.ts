import * as z from "zod";
import { clip } from "../model/mod.ts";
import { describeLocated, type Located, type LocatedMap } from "./located.ts";
import { formerKeyAdvice, nearestKey } from "./nearest_key.ts";
import { joinPath, MOST_PROBLEMS, type ProblemSink } from "./problem_sink.ts";
import { booleanOf, firstMessage, leafValue, plainValue } from "./leaf_value.ts";

/** A value that was read by a schema. */
interface Decoded<T> {
  /** The value without its nulls; only to be used while the sink is clean. */
  readonly value: T;
  /**
   * Dotted paths of the closed objects' keys that are present and not null. A bare boolean for an
   * object counts as its `enabled`. Keys of free maps are not listed.
   */
  readonly given: ReadonlySet<string>;
}

/**
 * Reads a located value as `schema` says, reporting everything that does not fit with its position.
 *
 * Rules: unknown keys are errors; `null` is absent; a scalar field gets the
 * text its author wrote; a boolean accepts yes, no, on and off where they are not quoted.
 */
export function decode<S extends z.ZodType>(
  schema: S,
  node: Located,
  sink: ProblemSink,
): Decoded<z.output<S>> {
  const walk = new Walk(sink);
  const value = walk.value(schema, node, "") as z.output<S>;
  return { value, given: walk.given };
}

class Walk {
  readonly given = new Set<string>();
  readonly #sink: ProblemSink;

  constructor(sink: ProblemSink) {
    this.#sink = sink;
  }

  value(schema: unknown, node: Located, path: string): unknown {
    const { inner, nullable } = unwrap(schema);
    if (node.kind === "null") {
      return nullable ? undefined : this.#refuse("expected a value", node, path);
    }
    if (inner instanceof z.ZodUnknown) return plainValue(node);
    if (inner instanceof z.ZodPipe) return this.#text(inner, node, path);
    if (inner instanceof z.ZodUnion) return this.#union(inner, node, path);
    if (inner instanceof z.ZodObject) return this.#object(inner, node, path);
    if (inner instanceof z.ZodRecord) return this.#record(inner, node, path);
    if (inner instanceof z.ZodArray) return this.#array(inner, node, path);
    return this.#leaf(inner, node, path);
  }

  #text(schema: z.ZodPipe, node: Located, path: string): unknown {
    if (node.kind === "scalar") return node.text;
    return this.#refuse(firstMessage(schema, {}), node, path);
  }

  /** Reads a mapping by the object among the options, any other value by the other option. */
  #union(schema: z.ZodUnion, node: Located, path: string): unknown {
    const object = schema.options.find((option) => option instanceof z.ZodObject);
    if (object === undefined) return this.#leaf(schema, node, path);
    if (node.kind === "map") return this.#object(object, node, path);
    const [other] = schema.options.filter((option) => option !== object);
    if (node.kind !== "scalar" || other === undefined) {
      return this.#refuse(firstMessage(schema, undefined), node, path);
    }
    if (!(other instanceof z.ZodBoolean)) return this.value(other, node, path);
    const enabled = booleanOf(node);
    if (enabled === undefined) return this.#refuse(firstMessage(schema, undefined), node, path);
    this.given.add(joinPath(path, "enabled"));
    return { enabled };
  }

  #object(schema: z.ZodObject, node: Located, path: string): unknown {
    if (node.kind !== "map") return this.#refuse("expected a mapping", node, path);
    const known = Object.keys(schema.shape);
    const result: Record<string, unknown> = {};
    const meant = new Set<string | undefined>();
    for (const [key, entry] of node.entries) {
      if (!known.includes(key)) {
        const near = this.#sink.problems.length < MOST_PROBLEMS
          ? nearestKey(key, known)
          : undefined;
        meant.add(near);
        this.#sink.add(entry.at, joinPath(path, clip(key, 60)), unknownKey(key, near, known));
        continue;
      }
      const below = joinPath(path, key);
      if (entry.value.kind !== "null") this.given.add(below);
      const value = this.value(schema.shape[key], entry.value, below);
      if (value !== undefined) result[key] = value;
    }
    this.#requireKeys(schema, node, { path, meant });
    return result;
  }

  /** Reports missing keys, except those whose misspelt form was reported as unknown. */
  #requireKeys(
    schema: z.ZodObject,
    node: LocatedMap,
    { path, meant }: { readonly path: string; readonly meant: ReadonlySet<string | undefined> },
  ): void {
    for (const [key, property] of Object.entries(schema.shape)) {
      if (property instanceof z.ZodOptional || node.entries.has(key) || meant.has(key)) continue;
      this.#sink.add(node.at, joinPath(path, key), `the key "${key}" is required`);
    }
  }

  #record(schema: z.ZodRecord, node: Located, path: string): unknown {
    if (node.kind !== "map") {
      return this.#refuse("expected a mapping of names to values", node, path);
    }
    const entries: [string, unknown][] = [];
    for (const [key, entry] of node.entries) {
      const value = this.value(schema.valueType, entry.value, joinPath(path, clip(key, 60)));
      if (value !== undefined) entries.push([key, value]);
    }
    return Object.fromEntries(entries);
  }

  #array(schema: z.ZodArray, node: Located, path: string): unknown {
    if (node.kind !== "list") return this.#refuse("expected a list", node, path);
    return node.items
      .map((item, index) => this.value(schema.element, item, `${path}[${index}]`))
      .filter((value) => value !== undefined);
  }

  #leaf(schema: unknown, node: Located, path: string): unknown {
    if (!(schema instanceof z.ZodType)) return undefined;
    const value = leafValue(schema, node);
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    // Given the value, a union's message would name only the option nearest to it.
    const wrong = schema instanceof z.ZodUnion ? undefined : value;
    return this.#refuse(firstMessage(schema, wrong), node, path);
  }

  #refuse(expected: string, node: Located, path: string): undefined {
    const found = expected.includes(", found") ? "" : `, found ${describeLocated(node)}`;
    this.#sink.add(node.at, path, `${expected}${found}`);
    return undefined;
  }
}

function unwrap(schema: unknown): { inner: unknown; nullable: boolean } {
  let inner = schema;
  let nullable = false;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    nullable ||= inner instanceof z.ZodNullable;
    inner = inner.unwrap();
  }
  return { inner, nullable };
}

function unknownKey(key: string, near: string | undefined, known: readonly string[]): string {
  const advice = formerKeyAdvice(key, known) ??
    (near === undefined ? `known keys: ${known.join(", ")}` : `did you mean "${near}"?`);
  return `unknown key ${JSON.stringify(clip(key, 60))}; ${advice}`;
}
