import { createHash } from "node:crypto";
import { join } from "node:path";
import { errors, messageOf, parseJson } from "../model/mod.ts";
import { type Files, MOST_GIVEN, readText } from "../system/mod.ts";
import { type EngineEndpoint, parseEndpoint, TLS_PORT } from "./endpoint.ts";
import { asRecord, asText } from "./json.ts";

/** The contexts of the docker command line, read anew at each call. */
interface ContextStore {
  /** Names of all contexts, sorted; unreadable ones are left out. */
  names(): Promise<string[]>;
  /** The address of a context's engine, if it is known. Throws `settings_invalid` where it cannot be used. */
  find(name: string): Promise<EngineEndpoint | undefined>;
}

/** Names of contexts that the command line accepts, none of which can form a path. */
const CONTEXT_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.+-]+$/;

const CERTIFICATES = ["ca.pem", "cert.pem", "key.pem"] as const;

/**
 * The store below a directory of the docker client's configuration, with one directory for each
 * context, named by the digest of its name. The command line's current context does not matter
 * here.
 */
export function createContextStore(files: Files, configDir: string): ContextStore {
  const root = join(configDir, "contexts");
  const read = (id: string) => readText(files, join(root, "meta", id, "meta.json"), MOST_GIVEN);
  return {
    async names() {
      const ids = await files.list(join(root, "meta")).catch(() => []);
      const texts = await Promise.all(ids.map((id) => read(id).catch(() => undefined)));
      return texts.map((text, index) => nameIn(text, ids[index])).filter((each) => each !== "")
        .sort();
    },
    async find(name) {
      if (!CONTEXT_NAME.test(name)) return undefined;
      const id = idOf(name);
      const tls = join(root, "tls", id, "docker");
      try {
        const text = await read(id);
        if (text === undefined) return undefined;
        const found = new Set(await files.list(tls));
        return readContext(text, { tls, files: CERTIFICATES.filter((each) => found.has(each)) });
      } catch (error) {
        throw errors.settings_invalid(
          `the context ${name} cannot be used: ${messageOf(error)}; see docker context inspect ` +
            `${name}`,
          { cause: error },
        );
      }
    },
  };
}

interface ContextCertificates {
  /** Their directory. */
  readonly tls: string;
  readonly files: readonly (typeof CERTIFICATES[number])[];
}

/**
 * The endpoint in the metadata of a context.
 *
 * Throws `settings_invalid` without an engine, and for one whose identity cannot be verified, by us
 * or by compose: it knows no authority but that of a `ca.pem`.
 */
export function readContext(text: string, { tls, files }: ContextCertificates): EngineEndpoint {
  const metadata = parseJson(text);
  if (metadata === undefined) {
    throw errors.settings_invalid("its meta.json is no JSON");
  }
  const endpoint = asRecord(asRecord(asRecord(metadata)["Endpoints"])["docker"]);
  const host = asText(endpoint["Host"]);
  if (host === "") throw errors.settings_invalid("it names no engine");
  if (endpoint["SkipTLSVerify"] === true) {
    throw errors.settings_invalid(
      "it does not verify the engine's certificate (skip-tls-verify), so anybody could answer",
    );
  }
  const found = parseEndpoint(host);
  if (found.kind !== "tcp") return found;
  if (files.length === 0) {
    if (found.port !== TLS_PORT || found.tls !== undefined) return found;
    throw errors.settings_invalid(
      `port ${TLS_PORT} is that of TLS, and no certificates lie beside it, so what is deployed ` +
        "would go there in the clear (docker context update with ca, cert and key)",
    );
  }
  if (!files.includes("ca.pem")) {
    throw errors.settings_invalid(
      "it has a certificate of the client and none of the authority that vouches for the engine, so " +
        "compose would refuse to go there; a public authority's is in the system's bundle (docker " +
        "context update with ca, cert and key)",
    );
  }
  const secured = parseEndpoint(host, { DOCKER_CERT_PATH: tls });
  return { ...secured, tls: { certificates: tls, files } } as EngineEndpoint;
}

function nameIn(text: string | undefined, id: string | undefined): string {
  const name = asText(asRecord(parseJson(text ?? ""))["Name"]);
  return CONTEXT_NAME.test(name) && idOf(name) === id ? name : "";
}

function idOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
