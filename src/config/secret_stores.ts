import * as z from "zod";
import { decode } from "./decode.ts";
import { type Located, positionAt } from "./located.ts";
import { parseLocatedYaml } from "./located_yaml.ts";
import { invalidInput, joinPath, ProblemSink, type Report } from "./problem_sink.ts";
import { field, needed, scalar, scalarMap } from "./schema_words.ts";
import { parseStoreTemplate, templateFields } from "./store_template.ts";
import { type StoreTemplate, TemplateProblem } from "./template_value.ts";

/** A webhook store: the request for a value, as templates. */
export interface SecretStore {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: StoreTemplate;
  readonly headers: readonly { readonly name: string; readonly value: StoreTemplate }[];
  readonly body: StoreTemplate | undefined;
  /** Template of the JMESPath expression that finds the value in the answer. */
  readonly jsonPath: StoreTemplate;
  /** Fields of `remote_ref` that a reference must have. */
  readonly needs: readonly string[];
  /** Fields of `auth` that the settings must have. */
  readonly needsAuth: readonly string[];
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const storeSchema = z.strictObject({
  name: field(scalar(), "Name that store_ref says."),
  version: field(scalar(), "Version of the store's shape.", "v1"),
  url: needed(scalar(), "Template of the address."),
  json_path: needed(scalar(), "Template of the JMESPath expression for the value."),
  method: field(scalar(), "GET, POST, PUT, PATCH or DELETE.", "GET"),
  headers: field(scalarMap(), "Templates of the headers."),
  body: field(scalar(), "Template of the body."),
});

type Written = z.output<typeof storeSchema>;

/**
 * Reads an instance's webhook stores: documents with `stores`, a mapping or a list, or with one store.
 *
 * Throws `config_invalid` with every problem and its position; messages never repeat a header.
 */
export function parseSecretStores(text: string, file: string): readonly SecretStore[] {
  const documents = parseLocatedYaml(text, file);
  const stores: SecretStore[] = [];
  const problems = documents.flatMap(({ number, root }) => {
    const sink = new ProblemSink(file, { document: number });
    for (const written of storesOf(root, sink)) {
      const store = readStore(written, sink);
      if (store === undefined) continue;
      if (stores.some((each) => each.name === store.name)) {
        sink.add(written.node.at, written.path, `the store ${store.name} is given twice`);
      }
      stores.push(store);
    }
    return sink.problems;
  });
  if (problems.length > 0) throw invalidInput(file, problems);
  return stores;
}

interface WrittenStore {
  readonly node: Located;
  readonly path: string;
  /** Key of the store in a mapping of stores; `undefined` in a list. */
  readonly key: string | undefined;
}

function storesOf(root: Located, sink: ProblemSink): readonly WrittenStore[] {
  if (root.kind !== "map") {
    sink.add(root.at, "", "expected a mapping with stores, or a store");
    return [];
  }
  const stores = root.entries.get("stores");
  if (stores === undefined) return [{ node: root, path: "", key: undefined }];
  for (const [key, { at }] of root.entries) {
    if (key !== "stores") sink.add(at, key, "is not known beside stores");
  }
  const { value } = stores;
  if (value.kind === "map" && value.entries.size > 0) {
    return [...value.entries].map(([key, entry]) => ({
      node: entry.value,
      path: joinPath("stores", key),
      key,
    }));
  }
  if (value.kind === "list" && value.items.length > 0) {
    return value.items.map((node, index) => ({ node, path: `stores[${index}]`, key: undefined }));
  }
  sink.add(stores.at, "stores", "expected a mapping or a list of at least one store");
  return [];
}

function readStore({ node, path, key }: WrittenStore, sink: ProblemSink): SecretStore | undefined {
  const { file, document = 1 } = sink;
  const own = new ProblemSink(file, { document, prefix: path });
  const { value } = decode(storeSchema, node, own);
  const report = (at: string, message: string) => own.add(positionAt(node, at), at, message);
  const store = own.clean ? checkStore(value, key, report) : undefined;
  sink.take(own.problems);
  return own.clean ? store : undefined;
}

function checkStore(written: Written, key: string | undefined, report: Report): SecretStore {
  const name = (written.name ?? key ?? "").trim();
  if (name === "") report("name", "expected the name of the store");
  if ((written.version ?? "v1") !== "v1") report("version", "the only version is v1");
  const word = (written.method ?? "GET").trim().toUpperCase();
  const method = METHODS.find((each) => each === word);
  if (method === undefined) report("method", `expected ${METHODS.join(", ")}`);
  const template = (path: string, text: string) => readTemplate(path, text, report);
  const url = template("url", written.url.trim());
  checkOrigin(url, report);
  const body = written.body === null || written.body === undefined
    ? undefined
    : template("body", written.body);
  if (body !== undefined && (method === "GET" || method === "DELETE")) {
    report("body", `a ${method} has no body; set method to POST, PUT or PATCH`);
  }
  const jsonPath = template("json_path", written.json_path.trim());
  if (jsonPath.parts.length === 0) report("json_path", "expected an expression, found nothing");
  const headers = Object.entries(written.headers ?? {}).flatMap(([header, text]) => {
    if (!HEADER.test(header)) report("headers", "expected the name of a header");
    return text === null
      ? []
      : [{ name: header, value: template(`headers.${header}`, text.trim()) }];
  });
  const all = [url, jsonPath, ...headers.map((each) => each.value), ...(body ? [body] : [])];
  const fields = (root: "remote_ref" | "auth") =>
    [...new Set(all.flatMap((each) => [...templateFields(each, root)]))].sort();
  return {
    name,
    method: method ?? "GET",
    url,
    headers,
    body,
    jsonPath,
    needs: fields("remote_ref"),
    needsAuth: fields("auth"),
  };
}

function readTemplate(path: string, text: string, report: Report): StoreTemplate {
  try {
    return parseStoreTemplate(text);
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    report(path, `character ${error.at} of the template: ${error.message}`);
    return { parts: [] };
  }
}

/** A repository must not choose the server that gets the store's credentials. */
function checkOrigin(url: StoreTemplate, report: Report): void {
  const [first] = url.parts;
  const text = first?.kind === "text" ? first.text : "";
  const origin = /^https?:\/\/[^/?#\s]+/i.exec(text)?.[0];
  if (origin === undefined || !URL.canParse(origin)) {
    return report("url", "expected an address that begins with http:// or https:// and a host");
  }
  if (url.parts.length > 1 && !/[/?#]/.test(text.slice(origin.length))) {
    report("url", "expected a / after the host: no template may be part of the host");
  }
}
