import {
  type AzureIdentity,
  parseSecretStores,
  type SecretProviderOptions,
} from "../config/mod.ts";
import { own } from "../model/mod.ts";
import { problemsOf } from "./git_domains.ts";
import type { SettingName } from "./settings_table.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

type ReadOptions = (reader: VariableReader) => SecretProviderOptions;

const READERS: Readonly<Record<SecretProviderOptions["kind"], ReadOptions>> = {
  "webhook": webhookOptions,
  "openbao": (reader) => ({
    kind: "openbao",
    siteUrl: neededAddress(reader, "SECRET_PROVIDER_SITE_URL"),
    accessToken: needed(reader, "SECRET_PROVIDER_ACCESS_TOKEN"),
  }),
  "infisical": (reader) => ({
    kind: "infisical",
    siteUrl: address(
      reader,
      "SECRET_PROVIDER_SITE_URL",
      reader.text("SECRET_PROVIDER_SITE_URL") ?? "https://app.infisical.com",
    ),
    clientId: needed(reader, "SECRET_PROVIDER_CLIENT_ID"),
    clientSecret: needed(reader, "SECRET_PROVIDER_CLIENT_SECRET"),
  }),
  "aws_sm": awsOptions,
  "azure_kv": (reader) => ({
    kind: "azure_kv",
    vaultUrl: neededAddress(reader, "SECRET_PROVIDER_VAULT_URL"),
    identity: azureIdentity(reader),
  }),
  "1password": connectOptions,
};

/** The secret provider that SECRET_PROVIDER names, with the variables it needs; usually none. */
export function secretProvider(reader: VariableReader): SecretProviderOptions | undefined {
  const text = reader.text("SECRET_PROVIDER")?.trim().toLowerCase();
  if (text === undefined) return undefined;
  // People know it by both names.
  const read = own(READERS, text === "vault" ? "openbao" : text);
  if (read !== undefined) return read(reader);
  const why = text === "bitwarden_sm" ? "; bitwarden_sm has no interface over plain HTTPS" : "";
  const known = Object.keys(READERS).join(", ");
  reader.refuse("SECRET_PROVIDER", `expected ${known}; found ${quote(text)}${why}`);
  return undefined;
}

function webhookOptions(reader: VariableReader): SecretProviderOptions {
  const name = "SECRET_PROVIDER_WEBHOOK_STORES";
  const text = needed(reader, name);
  const values = {
    username: reader.text("SECRET_PROVIDER_AUTH_USERNAME"),
    password: reader.text("SECRET_PROVIDER_AUTH_PASSWORD"),
    token: reader.text("SECRET_PROVIDER_AUTH_TOKEN"),
    api_key: reader.text("SECRET_PROVIDER_AUTH_APIKEY"),
  };
  const auth = Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (text === "") return { kind: "webhook", stores: [], auth };
  try {
    const stores = parseSecretStores(text, reader.origin(name));
    for (const store of stores) {
      for (const field of store.needsAuth.filter((each) => auth[each] === undefined)) {
        const variable = `SECRET_PROVIDER_AUTH_${field.toUpperCase().replace("_", "")}`;
        reader.refuse(variable, `must be set: store ${store.name} uses .auth.${field}`);
      }
    }
    return { kind: "webhook", stores, auth };
  } catch (error) {
    reader.problems.push(...problemsOf(error));
    return { kind: "webhook", stores: [], auth };
  }
}

function awsOptions(reader: VariableReader): SecretProviderOptions {
  const kind = "aws_sm";
  const region = needed(reader, "SECRET_PROVIDER_REGION");
  // It becomes part of a host name.
  if (region !== "" && !/^[a-z0-9-]+$/.test(region)) {
    reader.refuse("SECRET_PROVIDER_REGION", `expected a region such as eu-central-1`);
  }
  const site = reader.text("SECRET_PROVIDER_SITE_URL");
  return {
    kind,
    region,
    accessKeyId: needed(reader, "SECRET_PROVIDER_ACCESS_KEY_ID"),
    secretAccessKey: needed(reader, "SECRET_PROVIDER_SECRET_ACCESS_KEY"),
    siteUrl: site === undefined ? site : address(reader, "SECRET_PROVIDER_SITE_URL", site),
  };
}

function connectOptions(reader: VariableReader): SecretProviderOptions {
  const kind = "1password";
  if (
    !reader.isSet("SECRET_PROVIDER_CONNECT_HOST") && reader.text("SECRET_PROVIDER_ACCESS_TOKEN")
  ) {
    reader.refuse(
      reader.origin("SECRET_PROVIDER_ACCESS_TOKEN"),
      "service accounts of 1Password are not supported; use a Connect server " +
        "(SECRET_PROVIDER_CONNECT_HOST and SECRET_PROVIDER_CONNECT_TOKEN)",
    );
    return { kind, connectHost: "", connectToken: "" };
  }
  return {
    kind,
    connectHost: neededAddress(reader, "SECRET_PROVIDER_CONNECT_HOST"),
    connectToken: needed(reader, "SECRET_PROVIDER_CONNECT_TOKEN"),
  };
}

/** A client with its secret where one is set, else the identity of the machine. */
function azureIdentity(reader: VariableReader): AzureIdentity {
  const clientId = reader.text("AZURE_CLIENT_ID")?.trim();
  const clientSecret = reader.text("AZURE_CLIENT_SECRET");
  if (clientSecret === undefined) return { kind: "managed", clientId };
  const authority = reader.text("AZURE_AUTHORITY_HOST") ?? "";
  return {
    kind: "client",
    authorityUrl: address(reader, "AZURE_AUTHORITY_HOST", authority),
    tenantId: needed(reader, "AZURE_TENANT_ID"),
    clientId: needed(reader, "AZURE_CLIENT_ID"),
    clientSecret,
  };
}

/** A variable that the provider cannot do without; the provider is called what its operator calls it. */
function needed(reader: VariableReader, name: SettingName): string {
  const before = reader.problems.length;
  const text = reader.text(name)?.trim();
  if (text === undefined && reader.problems.length === before) {
    const provider = reader.text("SECRET_PROVIDER")?.trim();
    reader.refuse(name, `must be set: SECRET_PROVIDER is ${provider}`);
  }
  return text ?? "";
}

function neededAddress(reader: VariableReader, name: SettingName): string {
  return address(reader, name, needed(reader, name));
}

function address(reader: VariableReader, name: SettingName, text: string): string {
  const url = text.trim().replace(/\/+$/, "");
  if (url !== "" && !isAddress(url)) {
    reader.refuse(name, "expected an address such as https://secrets.example.com");
  }
  return url;
}

/** Without user, query and fragment: credentials have variables of their own. */
function isAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s?#]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}
