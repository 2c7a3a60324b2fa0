import { type ComposeModel, isDigest, shownName } from "../model/mod.ts";
import { soundsSecret } from "../system/mod.ts";
import { containing } from "./contained.ts";
import { isObject } from "./model.ts";
import { NAMED_VALUES } from "./model_secrets.ts";

/** Characters of the shortest secret that is searched for inside of other texts. */
const SHORTEST_PART = 4;

interface MaskOptions {
  /** Digest of a text that is keyed by the stack as well, so that no other stack shows the same. */
  digest(text: string): string;
  /** Values that must never be shown. */
  readonly secrets?: readonly string[];
}

/**
 * A model as text for people: JSON with sorted keys. Values of variables, build arguments, labels
 * and options whose names sound secret, and all texts that contain a secret, are replaced by
 * digests, so different values still differ; so are recorded digests.
 */
export function maskedModel(model: ComposeModel, options: MaskOptions): string {
  const show = (text: string) => options.digest(text);
  const mask = (text: string) => `*** (${show(text).slice(0, 8)})`;
  // Compose doubles dollars in printed values.
  const secrets = (options.secrets ?? []).flatMap((each) => [each, each.replaceAll("$", "$$$$")]);
  const whole = new Set(secrets);
  const contains = containing(secrets.filter(({ length }) => length >= SHORTEST_PART));
  // Hundreds of services may say the same.
  const looked = new Map<string, boolean>();
  const isSecret = (text: string) =>
    looked.getOrInsertComputed(text, () => whole.has(text) || contains(text));
  return JSON.stringify(masked(model, false), null, 2) + "\n";

  function masked(value: unknown, isMap: boolean): unknown {
    if (Array.isArray(value)) return value.map((each) => masked(each, false));
    if (!isObject(value)) {
      return secrets.length > 0 && value !== null && isSecret(String(value))
        ? mask(String(value))
        : typeof value === "string"
        ? shownName(value, show)
        : value;
    }
    return Object.fromEntries(
      Object.keys(value).sort().map((key) => {
        const inner = value[key];
        const hides = isMap && soundsSecret(key) && inner !== null && !isObject(inner);
        const shown = isSecret(key) ? mask(key) : shownName(key, show);
        if (hides) return [shown, mask(String(inner))];
        if (typeof inner === "string" && isDigest(key)) return [shown, show(inner)];
        return [shown, key === "content" ? hidden(inner) : masked(inner, NAMED_VALUES.has(key))];
      }),
    );
  }

  function hidden(value: unknown): unknown {
    return typeof value === "string" ? mask(value) : masked(value, false);
  }
}
