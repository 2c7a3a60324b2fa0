import { type JsonServer, startJsonServer } from "./json_server.ts";

/** A field of an item. */
export interface OnePasswordField {
  readonly id: string;
  readonly label: string;
  readonly value?: string;
  readonly totp?: string;
  readonly section?: { readonly id: string };
}

/** An item of a vault. */
export interface OnePasswordItem {
  readonly id: string;
  readonly title: string;
  readonly sections?: readonly { readonly id: string; readonly label: string }[];
  readonly fields: readonly OnePasswordField[];
}

/** A vault. */
export interface OnePasswordVault {
  readonly id: string;
  readonly name: string;
  readonly items: OnePasswordItem[];
}

/** Starts a Connect server on loopback. */
export async function startOnePasswordServer(
  { token, vaults }: { readonly token: string; readonly vaults: readonly OnePasswordVault[] },
): Promise<JsonServer> {
  return await startJsonServer(({ url, headers }) => {
    if (headers["authorization"] !== `Bearer ${token}`) {
      return { status: 401, value: { status: 401, message: "Invalid bearer token" } };
    }
    if (url.pathname === "/v1/vaults") {
      return { status: 200, value: vaults.map(({ id, name }) => ({ id, name })) };
    }
    const [, vaultId, itemId] = /^\/v1\/vaults\/([^/]+)\/items(?:\/([^/]+))?$/.exec(url.pathname) ??
      [];
    const vault = vaults.find((each) => each.id === vaultId);
    if (vault === undefined) return { status: 404, value: { status: 404 } };
    if (itemId !== undefined) {
      const item = vault.items.find((each) => each.id === itemId);
      return item === undefined ? { status: 404, value: {} } : { status: 200, value: item };
    }
    const title = /^title eq "((?:[^"\\]|\\.)*)"$/.exec(url.searchParams.get("filter") ?? "")?.[1];
    if (title === undefined) return { status: 400, value: { message: "bad filter" } };
    const wanted = title.replace(/\\(.)/g, "$1");
    const found = vault.items.filter((each) => each.title === wanted);
    return { status: 200, value: found.map(({ id, title }) => ({ id, title })) };
  });
}
