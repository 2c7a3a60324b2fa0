import type { AzureIdentity, ProviderOptions } from "../../config/mod.ts";
import { valueAt } from "../../model/mod.ts";
import type { Clock, HttpClient, HttpRequest } from "../../system/mod.ts";
import { askJson, below, scalarText, textAt } from "./ask_json.ts";
import { createLogin, type Grant } from "./login.ts";
import { Memo, referenceText, type SecretProvider, unresolved } from "./provider.ts";

const SHAPE = "name, or name/version";

/** The address at which a machine of Azure gets the token of its own identity. */
const IMDS_URL = "http://169.254.169.254";

/** Seconds a token is used when the server does not say for how long it is good. */
const SHORT_LIFETIME = 300;

/** Secrets of Azure Key Vault; `imdsUrl` is the metadata service that knows the machine's identity. */
export function createAzureKeyVault(
  options: ProviderOptions<"azure_kv">,
  { http, clock, imdsUrl = IMDS_URL }: {
    readonly http: HttpClient;
    readonly clock: Clock;
    readonly imdsUrl?: string;
  },
): SecretProvider {
  const resource = resourceOf(options.vaultUrl);
  const login = createLogin(clock, async (signal) => {
    const request = tokenRequest(options.identity, resource, imdsUrl);
    const { value } = await askJson(http, request, { signal });
    return grantOf(value);
  });
  return {
    name: "azure_kv",
    open() {
      const user = login.open();
      const secrets = new Memo<string>();
      const read = async (text: string, signal: AbortSignal) => {
        const path = `/secrets/${parseAzureReference(text)}?api-version=7.4`;
        return await user.with(signal, async (token) => {
          const url = below(options.vaultUrl, path);
          const headers = { authorization: `Bearer ${token}` };
          const { value } = await askJson(http, { method: "GET", url, headers }, { signal });
          return scalarText(valueAt(value, "value"), "the value of the secret");
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

/** Reads `name` or `name/version` as a path. Throws `secret_unresolved`. */
function parseAzureReference(text: string): string {
  const match = /^([0-9A-Za-z-]{1,127})(?:\/([0-9A-Za-z]{1,64}))?$/.exec(text);
  if (match === null) throw unresolved(`the reference is not of the shape ${SHAPE}`);
  return match[2] === undefined ? `${match[1]}` : `${match[1]}/${match[2]}`;
}

function tokenRequest(identity: AzureIdentity, resource: string, imdsUrl: string): HttpRequest {
  if (identity.kind === "managed") {
    const query = new URLSearchParams({ "api-version": "2018-02-01", resource });
    if (identity.clientId !== undefined) query.set("client_id", identity.clientId);
    const url = `${imdsUrl}/metadata/identity/oauth2/token?${query}`;
    return { method: "GET", url, headers: { metadata: "true" } };
  }
  const { authorityUrl, tenantId, clientId, clientSecret } = identity;
  return {
    method: "POST",
    url: below(authorityUrl, `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
      scope: `${resource}/.default`,
    }).toString(),
  };
}

function grantOf(value: unknown): Grant {
  const token = textAt(value, "access_token");
  if (token === undefined) throw unresolved("the login of azure gave no token");
  // One of the two services writes the number as text.
  const lifetime = Number(valueAt(value, "expires_in"));
  return { token, lifetimeSeconds: lifetime > 0 ? lifetime : SHORT_LIFETIME };
}

/** National clouds have domains of their own: the resource is the domain of the vault. */
function resourceOf(vaultUrl: string): string {
  const domain = /^[^.]+\.(vault\.[a-z.]+)$/.exec(new URL(vaultUrl).hostname)?.[1];
  return `https://${domain ?? "vault.azure.net"}`;
}
