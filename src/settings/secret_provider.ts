import {
  type AzureIdentity,
  parseSecretStores,
  SECRET_PROVIDERS,
  type SecretProviderOptions,
} from "../config/mod.ts";
import { problemsOf } from "./git_domains.ts";
import type { SettingName } from "./settings_table.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

/** Names that people know providers by as well. */
const OTHER_NAMES: Readonly<Record<string, SecretProviderOptions["kind"]>> = { vault: "openbao" };

/** The secret provider that SECRET_PROVIDER names, with the variables it needs; usually none. */
export function secretProvider(reader: VariableReader): SecretProviderOptions | undefined {
  const text = reader.text("SECRET_PROVIDER")?.trim().toLowerCase();
  if (text === undefined) return undefined;
  const kind = OTHER_NAMES[text] ?? SECRET_PROVIDERS.find((each) => each === text);
  if (kind !== undefined) return optionsOf(kind, reader);
  const why = text === "bitwarden_sm" ? "; bitwarden_sm has no interface over plain HTTPS" : "";
  reader.refuse(
    "SECRET_PROVIDER",
    `expected ${SECRET_PROVIDERS.join(", ")}; found ${quote(text)}${why}`,
  );
  return undefined;
}

function optionsOf(
  kind: SecretProviderOptions["kind"],
  reader: VariableReader,
): SecretProviderOptions {
  const need = (name: SettingName) => needed(reader, name);
  switch (kind) {
    case "webhook":
      return webhookOptions(reader);
    case "openbao":
      return {
        kind,
        siteUrl: address(reader, "SECRET_PROVIDER_SITE_URL", need("SECRET_PROVIDER_SITE_URL")),
        accessToken: need("SECRET_PROVIDER_ACCESS_TOKEN"),
      };
    case "infisical":
      return {
        kind,
        siteUrl: address(
          reader,
          "SECRET_PROVIDER_SITE_URL",
          reader.text("SECRET_PROVIDER_SITE_URL") ?? "https://app.infisical.com",
        ),
        clientId: need("SECRET_PROVIDER_CLIENT_ID"),
        clientSecret: need("SECRET_PROVIDER_CLIENT_SECRET"),
      };
    case "aws_sm":
      return awsOptions(reader);
    case "azure_kv":
      return {
        kind,
        vaultUrl: address(reader, "SECRET_PROVIDER_VAULT_URL", need("SECRET_PROVIDER_VAULT_URL")),
        identity: azureIdentity(reader),
      };
    case "1password":
      return connectOptions(reader);
  }
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
  const host = needed(reader, "SECRET_PROVIDER_CONNECT_HOST");
  return {
    kind,
    connectHost: address(reader, "SECRET_PROVIDER_CONNECT_HOST", host),
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
