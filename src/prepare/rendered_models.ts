import { createHash } from "node:crypto";
import { basename } from "node:path";
import { canonicalJson } from "../compose/mod.ts";
import type { ComposeCall } from "../deploy/mod.ts";
import { type ComposeModel, isObject, parseJson } from "../model/mod.ts";

/** Most that is kept of all models together, in characters. */
const MOST = 16 * 1024 * 1024;

/** Inputs of a rendering. */
export interface RenderingInputs {
  readonly call: Pick<ComposeCall, "project" | "variables">;
  /** Identity of what is at each path that rendering reads, all of them. */
  readonly contents: ReadonlyMap<string, string>;
  /** The directories in which those paths are. They differ from one revision to the next. */
  readonly trees: readonly string[];
}

/**
 * Models as compose printed them, by what they were rendered from: a commit that changes only what
 * containers mount or build from is not rendered again. Kept in memory, the ones used last, up to a
 * bound; a service that starts has none.
 */
export class RenderedModels {
  readonly #texts = new Map<string, string>();
  #size = 0;

  /** The model of `inputs`, with the paths of their trees; `undefined` when they were not rendered. */
  find(inputs: RenderingInputs): ComposeModel | undefined {
    const key = keyOf(inputs);
    const text = this.#texts.get(key);
    if (text === undefined) return undefined;
    this.#texts.delete(key);
    this.#texts.set(key, text);
    const model = parseJson(withTrees(text, inputs.trees));
    // An empty project in place of one that cannot be read would take every service away.
    return isObject(model) ? model : undefined;
  }

  /** Keeps a model, unless something of a tree would stay in it when the tree is another. */
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

/** A digest, because variables are secrets as often as not. */
function keyOf({ call: { project, variables }, contents, trees }: RenderingInputs): string {
  const text = canonicalJson({ project, variables, contents: [...contents].sort() });
  return createHash("sha256").update(withoutTrees(text, trees)).digest("hex");
}

/** Stands for a tree: no text of JSON has such a sign. */
const mark = (index: number) => `\0${index}\0`;
const inJson = (path: string) => JSON.stringify(path).slice(1, -1);

function withoutTrees(text: string, trees: readonly string[]): string {
  return trees.reduce((rest, tree, index) => rest.replaceAll(inJson(tree), mark(index)), text);
}

function withTrees(text: string, trees: readonly string[]): string {
  return trees.reduce((rest, tree, i) => rest.replaceAll(mark(i), () => inJson(tree)), text);
}
