import { type JsonServer, startJsonServer } from "./json_server.ts";

/** An Infisical with one machine identity. */
export interface InfisicalServer extends JsonServer {
  /** Writes a secret; `place` is `project:environment:/path/key`. */
  write(place: string, value: string): void;
  /** Makes every token it gave invalid. */
  revokeTokens(): void;
}

/** Starts an Infisical on loopback. */
export async function startInfisicalServer(
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
): Promise<InfisicalServer> {
  const secrets = new Map<string, string>();
  const tokens = new Set<string>();
  let count = 0;
  const server = await startJsonServer(({ method, url, headers, body }) => {
    if (method === "POST" && url.pathname === "/api/v1/auth/universal-auth/login") {
      const given = JSON.parse(body);
      if (given.clientId !== clientId || given.clientSecret !== clientSecret) {
        return { status: 401, value: { message: "Invalid credentials" } };
      }
      const accessToken = `infisical-token-${++count}`;
      tokens.add(accessToken);
      return { status: 200, value: { accessToken, expiresIn: 7200, tokenType: "Bearer" } };
    }
    if (!tokens.has((headers["authorization"] ?? "").replace("Bearer ", ""))) {
      return { status: 401, value: { message: "Token missing" } };
    }
    const key = /^\/api\/v3\/secrets\/raw\/([^/]+)$/.exec(url.pathname)?.[1];
    const { searchParams } = url;
    if (key === undefined || method !== "GET") return { status: 404, value: {} };
    const folder = searchParams.get("secretPath") ?? "/";
    const name = decodeURIComponent(key);
    const place = `${searchParams.get("workspaceId")}:${searchParams.get("environment")}:${
      folder === "/" ? "" : folder
    }/${name}`;
    const secretValue = secrets.get(place);
    return secretValue === undefined
      ? { status: 404, value: { message: `Secret with name '${name}' not found` } }
      : { status: 200, value: { secret: { secretKey: name, secretValue } } };
  });
  return {
    ...server,
    write: (place, value) => void secrets.set(place, value),
    revokeTokens: () => tokens.clear(),
  };
}
