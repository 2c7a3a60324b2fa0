import { createHash } from "node:crypto";
import { basename } from "node:path";
import { canonicalJson } from "../compose/mod.ts";
import type { ComposeCall } from "../deploy/mod.ts";
import { type ComposeModel, isObject, parseJson } from "../model/mod.ts";

/** Characters of all kept models together. */
const MOST = 16 * 1024 * 1024;

/** Inputs of a rendering. */
export interface RenderingInputs {
  readonly call: Pick<ComposeCall, "project" | "variables">;
  /** Content ids of all paths that rendering reads. */
  readonly contents: ReadonlyMap<string, string>;
  /** Directories of these paths, which differ between revisions. */
  readonly trees: readonly string[];
}

/**
 * Cache of models printed by compose, by their inputs: a commit that changes only mounted files or
 * build contexts needs no rendering. In memory only, limited to the most recently used ones.
 */
export class RenderedModels {
  readonly #texts = new Map<string, string>();
  #size = 0;

  /** The model of `inputs`, with paths of their trees; `undefined` if it is not cached. */
  find(inputs: RenderingInputs): ComposeModel | undefined {
    const key = keyOf(inputs);
    const text = this.#texts.get(key);
    if (text === undefined) return undefined;
    this.#texts.delete(key);
    this.#texts.set(key, text);
    const model = parseJson(withTrees(text, inputs.trees));
    // An unreadable model must not pass for an empty project, which would remove every service.
    return isObject(model) ? model : undefined;
  }

  /** Keeps a model, unless it mentions a tree in a form that cannot be replaced later. */
  keep(inputs: RenderingInputs, model: ComposeModel): void {
    const key = keyOf(inputs);
    const text = withoutTrees(JSON.stringify(model), inputs.trees);
    if (inputs.trees.some((tree) => text.includes(basename(tree)))) return;
    this.#size += text.length - (this.#texts.get(key)?.length ?? 0);
    this.#texts.delete(key);
    this.#texts.set(key, text);
    for (const [oldest, { length }] of this.#texts) {
      if (this.#size <= MOST) break;
      this.#texts.delete(oldest);
      this.#size -= length;
    }
  }
}

/** A digest, because variables are often secrets. */
function keyOf({ call: { project, variables }, contents, trees }: RenderingInputs): string {
  const text = canonicalJson({ project, variables, contents: [...contents].sort() });
  return createHash("sha256").update(withoutTrees(text, trees)).digest("hex");
}

/** Placeholder for a tree, with a character that JSON text never contains. */
const mark = (index: number) => `\0${index}\0`;
const inJson = (path: string) => JSON.stringify(path).slice(1, -1);

function withoutTrees(text: string, trees: readonly string[]): string {
  return trees.reduce((rest, tree, index) => rest.replaceAll(inJson(tree), mark(index)), text);
}

function withTrees(text: string, trees: readonly string[]): string {
  return trees.reduce((rest, tree, i) => rest.replaceAll(mark(i), () => inJson(tree)), text);
}
