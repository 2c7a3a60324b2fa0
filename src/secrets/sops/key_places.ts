import { withoutEnd } from "../../model/mod.ts";
import { SopsFormatError } from "./sops_text.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A part of a path, or the name of a key, that leads nowhere but to itself. */
const SEGMENT = /^(?!\.{1,2}$)[\w.@~-]+$/;

/** Servers of key vaults in the clouds of Azure. */
const AZURE =
  /^https:\/\/[a-z0-9-]+\.(?:vault|managedhsm)\.(?:azure\.(?:net|cn)|usgovcloudapi\.net|microsoftazure\.de)\/?$/i;

/** Name of a key of AWS whose region, which becomes part of the name of a server, is one. */
const AWS = /^arn:aws[\w-]*:kms:[a-z0-9-]+:\d+:(?:key|alias)\/[\w/-]+$/;

/**
 * Refuses metadata that would lead our credentials anywhere but to a service that decrypts with a key.
 * Its author writes the address of a Vault server, the path that is written to there (with `..` in the
 * name of a key that is any path at all), and the addresses or regions of the services of clouds.
 *
 * `keys` are the entries of one kind. Throws {@link SopsFormatError} with what is wrong.
 */
export function requireOwnPlaces(
  keys: (kind: string) => readonly Fields[],
  vaultAddress: string | undefined,
): void {
  for (const key of keys("hc_vault")) requireOwnVault(key, vaultAddress);
  for (const { vault_url: url } of keys("azure_kv")) {
    if (typeof url === "string" && AZURE.test(url)) continue;
    throw new SopsFormatError("its vault_url of azure_kv is no address of Azure Key Vault");
  }
  for (const { arn } of keys("kms")) {
    if (typeof arn === "string" && AWS.test(arn)) continue;
    throw new SopsFormatError("its arn of kms is no name of a key of AWS");
  }
}

function requireOwnVault(
  { vault_address: address, engine_path: engine, key_name: name }: Fields,
  vaultAddress: string | undefined,
): void {
  const asked = originOf(address);
  if (asked === undefined || asked !== originOf(vaultAddress)) {
    throw new SopsFormatError(
      `its key is at the Vault server ${asked ?? "that its metadata names in an unusual way"}, ` +
        `and VAULT_ADDR is ${originOf(vaultAddress) ?? "not set, or no plain address"}`,
    );
  }
  const segments = typeof engine === "string" ? withoutEnd(engine, "/").split("/") : [""];
  if (![...segments, name].every((each) => typeof each === "string" && SEGMENT.test(each))) {
    throw new SopsFormatError("its engine_path and key_name of hc_vault are no plain names");
  }
}

/** The origin of an address that every program reads alike; `undefined` for any other. */
function originOf(address: unknown): string | undefined {
  const isPlain = typeof address === "string" &&
    /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?\/*$/i.test(address);
  return isPlain && URL.canParse(address) ? new URL(address).origin : undefined;
}
