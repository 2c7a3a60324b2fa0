import type { ProviderOptions } from "../../config/mod.ts";
import { valueAt, withoutEnd } from "../../model/mod.ts";
import type { Clock, HttpClient } from "../../system/mod.ts";
import { askJson, below, scalarText, textAt } from "./ask_json.ts";
import { createLogin, type Grant } from "./login.ts";
import { Memo, referenceText, type SecretProvider, unresolved } from "./provider.ts";

const SHAPE = "projectId:environment:[/path/]key";

/** Seconds a token is used when the server does not say for how long it is good. */
const SHORT_LIFETIME = 300;

/** Secrets of Infisical, with their references to other secrets and imports resolved by it. */
export function createInfisical(
  options: ProviderOptions<"infisical">,
  { http, clock }: { readonly http: HttpClient; readonly clock: Clock },
): SecretProvider {
  const login = createLogin(clock, (signal) => logIn(options, http, signal));
  return {
    name: "infisical",
    open() {
      const user = login.open();
      const secrets = new Memo<string>();
      const read = async (text: string, signal: AbortSignal) => {
        const { project, environment, path, key } = parseInfisicalReference(text);
        const query = new URLSearchParams({
          workspaceId: project,
          environment,
          secretPath: path,
          expandSecretReferences: "true",
          include_imports: "true",
        });
        const url = below(
          options.siteUrl,
          `/api/v3/secrets/raw/${encodeURIComponent(key)}?${query}`,
        );
        return await user.with(signal, async (token) => {
          const headers = { authorization: `Bearer ${token}` };
          const { value } = await askJson(http, { method: "GET", url, headers }, { signal });
          return scalarText(valueAt(value, "secret", "secretValue"), `the value of ${key}`);
        });
      };
      return {
        async read(reference, signal) {
          const text = referenceText(reference, SHAPE);
          return await secrets.get(text, () => read(text, signal));
        },
      };
    },
  };
}

async function logIn(
  { siteUrl, clientId, clientSecret }: ProviderOptions<"infisical">,
  http: HttpClient,
  signal: AbortSignal,
): Promise<Grant> {
  const { value } = await askJson(http, {
    method: "POST",
    url: below(siteUrl, "/api/v1/auth/universal-auth/login"),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ clientId, clientSecret }),
  }, { signal });
  const token = textAt(value, "accessToken");
  if (token === undefined) throw unresolved("the login of infisical gave no token");
  const lifetime = valueAt(value, "expiresIn");
  return { token, lifetimeSeconds: typeof lifetime === "number" ? lifetime : SHORT_LIFETIME };
}

/** Reads `projectId:environment:[/path/]key`. Throws `secret_unresolved`. */
export function parseInfisicalReference(text: string) {
  const [project = "", environment = "", ...rest] = text.split(":");
  const place = rest.join(":");
  const slash = place.lastIndexOf("/");
  const key = place.slice(slash + 1);
  const folder = slash < 0 ? "/" : place.slice(0, slash).replace(/^\/*/, "/");
  if (project === "" || environment === "" || key === "" || key === "." || key === "..") {
    throw unresolved(`the reference is not of the shape ${SHAPE}`);
  }
  return { project, environment, path: withoutEnd(folder, "/") || "/", key };
}
