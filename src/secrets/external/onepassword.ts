import type { ProviderOptions } from "../../config/mod.ts";
import type { HttpClient } from "../../system/mod.ts";
import { askJson, below, scalarText, textAt } from "./ask_json.ts";
import { Memo, referenceText, type SecretProvider, unresolved } from "./provider.ts";
import { listOf, valueAt } from "../../model/mod.ts";

const SHAPE = "op://vault/item/[section/]field[?attribute=otp]";

/** Ids of vaults and items. */
const ID = /^[a-z0-9]{26}$/;

interface OnePasswordReference {
  readonly vault: string;
  readonly item: string;
  readonly section: string | undefined;
  readonly field: string;
  readonly otp: boolean;
}

/** Items of 1Password through a Connect server; vaults, items and fields by name or id. */
export function createOnePassword(
  options: ProviderOptions<"1password">,
  http: HttpClient,
): SecretProvider {
  const get = async (path: string, signal: AbortSignal, expected: number[] = []) => {
    const headers = { authorization: `Bearer ${options.connectToken}` };
    const url = below(options.connectHost, path);
    return await askJson(http, { method: "GET", url, headers }, { signal, expected });
  };
  return {
    name: "1password",
    open() {
      const vaults = new Memo<unknown>();
      const items = new Memo<unknown>();
      const vaultId = async (name: string, signal: AbortSignal) => {
        const all = await vaults.get("", async () => (await get("/v1/vaults", signal)).value);
        return idOf(all, "name", name, "vault");
      };
      const item = async (vault: string, name: string, signal: AbortSignal) => {
        const base = `/v1/vaults/${await vaultId(vault, signal)}/items`;
        if (ID.test(name)) {
          const { status, value } = await get(`${base}/${name}`, signal, [400, 404]);
          if (status === 200) return value;
        }
        const filter = `title eq "${name.replace(/["\\]/g, "\\$&")}"`;
        const { value } = await get(`${base}?${new URLSearchParams({ filter })}`, signal);
        return (await get(`${base}/${idOf(value, "title", name, "item")}`, signal)).value;
      };
      return {
        async read(reference, signal) {
          const wanted = parseOnePasswordReference(referenceText(reference, SHAPE));
          const id = JSON.stringify([wanted.vault, wanted.item]);
          const found = await items.get(id, () => item(wanted.vault, wanted.item, signal));
          return fieldOf(found, wanted);
        },
      };
    },
  };
}

/** Reads `op://vault/item/[section/]field[?attribute=otp]`. Throws `secret_unresolved`. */
function parseOnePasswordReference(text: string): OnePasswordReference {
  const [path = "", query] = text.split("?", 2);
  const parts = path.replace(/^op:\/\//, "").split("/").map((part) => part.trim());
  const [vault, item, third, fourth, ...more] = parts;
  const otp = query === "attribute=otp";
  const whole = path.startsWith("op://") && parts.every((part) => part !== "") && more.length === 0;
  if (!whole || vault === undefined || item === undefined || third === undefined) {
    throw unresolved(`the reference is not of the shape ${SHAPE}`);
  }
  if (query !== undefined && !otp) throw unresolved("the only attribute is otp");
  return fourth === undefined
    ? { vault, item, section: undefined, field: third, otp }
    : { vault, item, section: third, field: fourth, otp };
}

/** The id of the one entry of a list that has this id or name. */
function idOf(list: unknown, key: string, name: string, what: string): string {
  const entries = listOf(list);
  const byId = entries.filter((each) => textAt(each, "id") === name);
  const byName = entries.filter((each) => textAt(each, key) === name);
  const [found, second] = byId.length > 0 ? byId : byName;
  if (second !== undefined) throw unresolved(`there are several ${what}s ${name}; use its id`);
  const id = textAt(found, "id");
  // The id becomes part of a URL.
  if (id === undefined || !/^[\w-]+$/.test(id)) throw unresolved(`there is no ${what} ${name}`);
  return id;
}

function fieldOf(item: unknown, { section, field, otp }: OnePasswordReference): string {
  const sections = listAt(item, "sections").filter((each) =>
    textAt(each, "id") === section || textAt(each, "label") === section
  ).map((each) => textAt(each, "id"));
  const all = listAt(item, "fields").filter((each) =>
    section === undefined || sections.includes(textAt(each, "section", "id"))
  );
  const byId = all.filter((each) => textAt(each, "id") === field);
  const matching = byId.length > 0 ? byId : all.filter((each) => textAt(each, "label") === field);
  const [found, second] = matching;
  const name = section === undefined ? field : `${section}/${field}`;
  if (found === undefined) throw unresolved(`the item has no field ${name}`);
  if (second !== undefined) throw unresolved(`the item has several fields ${name}; use its id`);
  return scalarText(valueAt(found, otp ? "totp" : "value"), `the field ${name}`);
}

function listAt(value: unknown, key: string): readonly unknown[] {
  return listOf(valueAt(value, key));
}
