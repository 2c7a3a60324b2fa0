import type { ComposeModel } from "../model/mod.ts";
import { isObject } from "./compose_model.ts";

/** Names whose values nobody should read over a shoulder. */
const SECRET_NAME = /pass|secret|token|credential|private|api_?key|auth/i;

/**
 * A model as text for people: JSON with sorted keys, and the values of environment variables,
 * build arguments and labels that sound secret replaced by a digest. Two masked models still differ
 * where the values differ.
 */
export function maskedModel(model: ComposeModel, digest: (text: string) => string): string {
  return JSON.stringify(masked(model, false), null, 2) + "\n";

  function masked(value: unknown, isMap: boolean): unknown {
    if (Array.isArray(value)) return value.map((each) => masked(each, false));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.keys(value).sort().map((key) => {
        const inner = value[key];
        const hides = isMap && SECRET_NAME.test(key) && inner !== null && !isObject(inner);
        if (hides) return [key, `*** (${digest(String(inner)).slice(0, 8)})`];
        const innerIsMap = ["environment", "args", "labels", "driver_opts"].includes(key);
        return [key, key === "content" ? hidden(inner) : masked(inner, innerIsMap)];
      }),
    );
  }

  function hidden(value: unknown): unknown {
    return typeof value === "string" ? `*** (${digest(value).slice(0, 8)})` : masked(value, false);
  }
}
