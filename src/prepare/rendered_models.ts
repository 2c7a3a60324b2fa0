import { keepLatest } from "../system/mod.ts";
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { canonicalJson } from "../compose/mod.ts";
import type { ComposeCall } from "../deploy/mod.ts";
import { type ComposeModel, isObject, parseJson, StackwrightError } from "../model/mod.ts";

/** Characters of all kept models together. */
const MOST = 16 * 1024 * 1024;

/** Failures that are kept, and the milliseconds for which they are. */
const [MOST_FAILURES, FAILURE_MS] = [1000, 30 * 60 * 1000] as const;

/** Inputs of a rendering. */
export interface RenderingInputs {
  readonly call: Pick<ComposeCall, "project" | "variables">;
  /**
   * Names of the sources of the files and of the configuration: what one repository's files make is
   * never handed to another, whatever a key misses.
   */
  readonly sources: readonly string[];
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
  /** Renderings that took more than they may, and until when each is not tried again. */
  readonly #failures = new Map<
    string,
    { readonly error: StackwrightError; readonly until: Date }
  >();
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

  /**
   * Throws the failure of the same rendering, if that took more of the machine than it may a short time ago:
   * tried at each check of the source, such renderings would take turns without an end.
   */
  requireNotFailed(inputs: RenderingInputs, now: Date): void {
    const key = keyOf(inputs);
    const known = this.#failures.get(key);
    if (known === undefined) return;
    if (known.until <= now) return void this.#failures.delete(key);
    const { error: { code, message }, until } = known;
    const when = `${until.toISOString().slice(0, 16)}Z`;
    const again =
      `as nothing has changed since, it is not tried again before ${when}, unless you ask for it`;
    throw new StackwrightError(code, `${message}; ${again}`);
  }

  /** Keeps a failure, if the rendering took more of the machine than it may. */
  keepFailure(inputs: RenderingInputs, error: unknown, now: Date): void {
    if (!(error instanceof StackwrightError) || !error.tookTooMuch) return;
    const until = new Date(now.getTime() + FAILURE_MS);
    keepLatest(this.#failures, MOST_FAILURES, keyOf(inputs), { error, until });
  }
}

/** A digest, because variables are often secrets. */
function keyOf({ call, sources, contents, trees }: RenderingInputs): string {
  const { project, variables } = call;
  const text = canonicalJson({ project, variables, sources, contents: [...contents].sort() });
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
