import type { ProviderOptions, SecretStore } from "../../config/mod.ts";
import type { SecretReference } from "../../model/mod.ts";
import type { HttpClient, HttpRequest } from "../../system/mod.ts";
import { askJson } from "./ask_json.ts";
import { escapeForJsonPath, searchValue } from "./json_path.ts";
import { Memo, type SecretProvider, unresolved } from "./provider.ts";
import { renderTemplate, type TemplateValues } from "./render_template.ts";

/** Secrets from any service with an HTTP interface, as the stores of the instance describe it. */
export function createWebhookStores(
  options: ProviderOptions<"webhook">,
  http: HttpClient,
): SecretProvider {
  const stores = new Map(options.stores.map((store) => [store.name, store]));
  return {
    name: "webhook",
    open() {
      const answers = new Memo<unknown>();
      return {
        async read(reference, signal) {
          const { store, values } = lookUp(stores, options.auth, reference);
          const request = storeRequest(store, values);
          const answer = await answers.get(
            JSON.stringify(request),
            async () => (await askJson(http, request, { signal })).value,
          );
          return searchValue(answer, renderTemplate(store.jsonPath, values, escapeForJsonPath));
        },
      };
    },
  };
}

function lookUp(
  stores: ReadonlyMap<string, SecretStore>,
  auth: Readonly<Record<string, string>>,
  reference: SecretReference,
): { readonly store: SecretStore; readonly values: TemplateValues } {
  if (reference.kind === "text") {
    throw unresolved("the webhook provider expects an object with store_ref and remote_ref");
  }
  const store = stores.get(reference.storeRef);
  if (store === undefined) throw unresolved(`there is no store ${reference.storeRef}`);
  const missing = store.needs.filter((name) => !Object.hasOwn(reference.remoteRef, name));
  if (missing.length > 0) {
    throw unresolved(`remote_ref lacks what store ${store.name} needs: ${missing.join(", ")}`);
  }
  return { store, values: { remote_ref: reference.remoteRef, auth } };
}

function storeRequest(store: SecretStore, values: TemplateValues): HttpRequest {
  const body = store.body === undefined ? undefined : renderTemplate(store.body, values);
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json; charset=utf-8";
  for (const { name, value } of store.headers) {
    headers[name.toLowerCase()] = headerValue(name, renderTemplate(value, values));
  }
  return {
    method: store.method,
    url: safeUrl(renderTemplate(store.url, values)),
    headers,
    ...(body === undefined ? {} : { body }),
  };
}

/** Refuses values with which a header would become several. */
function headerValue(name: string, value: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw unresolved(`header ${name} has a character that no header may have`);
}

/** Refuses URLs that values lead to another part of the store than its author meant. */
function safeUrl(text: string): string {
  if (!URL.canParse(text)) throw unresolved("the address of the store is malformed");
  const path = text.replace(/^[a-z]+:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  const climbs = path.split(/[/\\]/).some((segment) =>
    /^(?:\.|%2e){1,2}$/i.test(segment.replace(/[\t\n\r]/g, ""))
  );
  if (climbs) throw unresolved("a value of remote_ref puts . or .. into the address of the store");
  return text;
}
