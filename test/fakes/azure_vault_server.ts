import { type JsonServer, startJsonServer } from "./json_server.ts";

/** A vault of Azure with the two services that give tokens for it. */
export interface AzureVaultServer extends JsonServer {
  /** Writes a secret; `place` is `name` or `name/version`. */
  write(place: string, value: string): void;
}

/** The client that may log in. */
export interface AzureVaultServerOptions {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Starts login, machine identity and vault on one port of loopback. */
export async function startAzureVaultServer(
  options: AzureVaultServerOptions,
): Promise<AzureVaultServer> {
  const secrets = new Map<string, string>();
  const server = await startJsonServer(({ method, url, headers, body }) => {
    if (url.pathname === `/${options.tenantId}/oauth2/v2.0/token` && method === "POST") {
      const form = new URLSearchParams(body);
      const fits = form.get("grant_type") === "client_credentials" &&
        form.get("client_id") === options.clientId &&
        form.get("client_secret") === options.clientSecret &&
        form.get("scope") === "https://vault.azure.net/.default";
      return fits
        ? { status: 200, value: { access_token: "azure-client-token", expires_in: 3599 } }
        : { status: 401, value: { error: "invalid_client" } };
    }
    if (url.pathname === "/metadata/identity/oauth2/token") {
      return headers["metadata"] === "true" &&
          url.searchParams.get("resource") === "https://vault.azure.net"
        ? { status: 200, value: { access_token: "azure-machine-token", expires_in: "86400" } }
        : { status: 400, value: { error: "invalid_request" } };
    }
    const token = /^Bearer azure-(?:client|machine)-token$/;
    if (!token.test(headers["authorization"] ?? "")) {
      return { status: 401, value: { error: { code: "Unauthorized" } } };
    }
    const place = url.pathname.replace(/^\/secrets\//, "");
    const value = url.searchParams.get("api-version") === null ? undefined : secrets.get(place);
    return value === undefined
      ? { status: 404, value: { error: { code: "SecretNotFound" } } }
      : { status: 200, value: { value, id: `https://vault/secrets/${place}` } };
  });
  return { ...server, write: (place, value) => void secrets.set(place, value) };
}
