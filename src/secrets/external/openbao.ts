import type { ProviderOptions } from "../../config/mod.ts";
import { valueAt } from "../../model/mod.ts";
import type { HttpClient } from "../../system/mod.ts";
import { askJson, below, scalarText, textAt } from "./ask_json.ts";
import { Memo, referenceText, type SecretProvider, unresolved } from "./provider.ts";

const SHAPE = "kv:[namespace:]engine:secret:key";

interface KvReference {
  readonly namespace: string;
  readonly engine: string;
  readonly secret: string;
  readonly key: string;
}

/** Key-value secrets of OpenBao and Vault; the version of the engine is asked for once per reader. */
export function createOpenBao(
  options: ProviderOptions<"openbao">,
  http: HttpClient,
): SecretProvider {
  const get = (path: string, namespace: string, signal: AbortSignal, expected: number[] = []) =>
    askJson(http, {
      method: "GET",
      url: below(options.siteUrl, `/v1/${path}`),
      headers: {
        "x-vault-token": options.accessToken,
        ...(namespace === "" ? {} : { "x-vault-namespace": namespace }),
      },
    }, { signal, expected });
  return {
    name: "openbao",
    open() {
      const versions = new Memo<1 | 2>();
      const secrets = new Memo<unknown>();
      const version = async (
        { namespace, engine }: KvReference,
        signal: AbortSignal,
      ): Promise<1 | 2> => {
        const path = `sys/internal/ui/mounts/${encoded(engine)}`;
        // A token that may not ask this may read the secret all the same; version 2 is the usual one.
        const { status, value } = await get(path, namespace, signal, [400, 403, 404]);
        if (status !== 200) return 2;
        requireKeyValues(engine, textAt(value, "data", "type"));
        return textAt(value, "data", "options", "version") === "2" ? 2 : 1;
      };
      const secret = async (reference: KvReference, signal: AbortSignal) => {
        const { namespace, engine, secret } = reference;
        const mount = JSON.stringify([namespace, engine]);
        const found = await versions.get(mount, () => version(reference, signal));
        const path = found === 2 ? [engine, "data", secret] : [engine, secret];
        const { value } = await get(path.map(encoded).join("/"), namespace, signal);
        return found === 2 ? valueAt(value, "data", "data") : valueAt(value, "data");
      };
      return {
        async read(reference, signal) {
          const parsed = parseKvReference(referenceText(reference, SHAPE));
          const { namespace, engine, key } = parsed;
          const id = JSON.stringify([namespace, engine, parsed.secret]);
          const value = await secrets.get(id, () => secret(parsed, signal));
          return scalarText(valueAt(value, key), `key ${key} of secret ${parsed.secret}`);
        },
      };
    },
  };
}

/** Refuses other engines: through `auth/token`, for example, authors could read our own token. */
function requireKeyValues(engine: string, type: string | undefined): void {
  if (type === "kv" || type === "generic") return;
  throw unresolved(
    `there is no key-value engine at ${engine}, but one of type ${type ?? "unknown"}`,
  );
}

/** Reads `kv:[namespace:]engine:secret:key`. Throws `secret_unresolved`. */
function parseKvReference(text: string): KvReference {
  const [kind, ...parts] = text.split(":");
  if (kind === "pki" || kind === "pki-role") {
    throw unresolved(`${kind} references are not supported; expected ${SHAPE}`);
  }
  const [first, second, third, fourth, ...more] = parts.map((part) => part.trim());
  const whole = parts.every((part) => part.trim().replaceAll("/", "") !== "");
  if (kind !== "kv" || !whole || more.length > 0 || first === undefined || second === undefined) {
    throw unresolved(`the reference is not of the shape ${SHAPE}`);
  }
  if (third === undefined) throw unresolved(`the reference is not of the shape ${SHAPE}`);
  const four = fourth === undefined
    ? { namespace: "", engine: first, secret: second, key: third }
    : { namespace: first, engine: second, secret: third, key: fourth };
  return four.namespace === "root" ? { ...four, namespace: "" } : four;
}

/** Encodes a path but its slashes; refuses parts that would climb out of the engine. */
function encoded(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.some((segment) => segment === "." || segment === "..")) {
    throw unresolved("the reference has a . or .. in its path");
  }
  return segments.map(encodeURIComponent).join("/");
}
