import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startAwsSecretsServer } from "../fakes/aws_secrets_server.ts";
import { startAzureVaultServer } from "../fakes/azure_vault_server.ts";
import { startInfisicalServer } from "../fakes/infisical_server.ts";
import { type Fault, type JsonServer, startJsonServer } from "../fakes/json_server.ts";
import { startOnePasswordServer } from "../fakes/onepassword_server.ts";
import { startOpenBaoServer } from "../fakes/openbao_server.ts";
import { type CanaryHouse, createCanaryHouse } from "./canary_house.ts";
import { composeFile, configFile, service } from "./compose_text.ts";

/** A store with a secret in it, and how the service and a deployment use it. */
interface Stocked {
  readonly server: JsonServer;
  readonly settings: Readonly<Record<string, string>>;
  readonly reference: unknown;
  /** What the store was told and may repeat in an error. */
  readonly credentials: readonly string[];
}

type Stock = (value: string, make: (name: string) => string) => Promise<Stocked>;

const PROVIDERS: Readonly<Record<string, Stock>> = {
  async openbao(value, make) {
    const token = make("token");
    const server = await startOpenBaoServer({ token, engines: { kv: 2 } });
    server.write("kv/shop", { value });
    return {
      server,
      settings: {
        SECRET_PROVIDER_SITE_URL: server.origin,
        SECRET_PROVIDER_ACCESS_TOKEN: token,
        SECRET_PROVIDER_ACCESS_TOKEN_FILE: "",
      },
      reference: "kv:kv:shop:value",
      credentials: [token],
    };
  },
  async infisical(value, make) {
    const clientSecret = make("client secret");
    const server = await startInfisicalServer({ clientId: "app", clientSecret });
    server.write("p:prod:/value", value);
    return {
      server,
      settings: {
        SECRET_PROVIDER_SITE_URL: server.origin,
        SECRET_PROVIDER_CLIENT_ID: "app",
        SECRET_PROVIDER_CLIENT_SECRET: clientSecret,
      },
      reference: "p:prod:value",
      credentials: [clientSecret],
    };
  },
  async aws_sm(value, make) {
    const secretAccessKey = make("secret access key");
    const [region, accessKeyId] = ["eu-central-1", "AKIAEXAMPLE"];
    const server = await startAwsSecretsServer({ region, accessKeyId, secretAccessKey });
    const arn = "arn:aws:secretsmanager:eu-central-1:1:secret:shop";
    server.write(arn, { SecretString: value });
    return {
      server,
      settings: {
        SECRET_PROVIDER_SITE_URL: server.origin,
        SECRET_PROVIDER_REGION: region,
        SECRET_PROVIDER_ACCESS_KEY_ID: accessKeyId,
        SECRET_PROVIDER_SECRET_ACCESS_KEY: secretAccessKey,
      },
      reference: arn,
      credentials: [secretAccessKey],
    };
  },
  async azure_kv(value, make) {
    const clientSecret = make("client secret");
    const client = { tenantId: "tenant", clientId: "client", clientSecret };
    const server = await startAzureVaultServer(client);
    server.write("shop", value);
    return {
      server,
      settings: {
        SECRET_PROVIDER_VAULT_URL: server.origin,
        AZURE_TENANT_ID: client.tenantId,
        AZURE_CLIENT_ID: client.clientId,
        AZURE_CLIENT_SECRET: clientSecret,
        AZURE_AUTHORITY_HOST: server.origin,
      },
      reference: "shop",
      credentials: [clientSecret],
    };
  },
  async "1password"(value, make) {
    const token = make("token");
    const fields = [{ id: "f", label: "password", value }];
    const items = [{ id: "i", title: "shop", fields }];
    const server = await startOnePasswordServer({
      token,
      vaults: [{ id: "v", name: "main", items }],
    });
    return {
      server,
      settings: {
        SECRET_PROVIDER_CONNECT_HOST: server.origin,
        SECRET_PROVIDER_CONNECT_TOKEN: token,
      },
      reference: "op://main/shop/password",
      credentials: [token],
    };
  },
  async webhook(value, make) {
    const [token, password, literal] = [make("auth token"), make("auth password"), make("header")];
    const basic = make("basic");
    const server = await startJsonServer(({ headers, url }) =>
      headers["authorization"] === `Bearer ${token}` && headers["x-api-key"] === literal
        ? { status: 200, value: { shop: { value } } }
        : { status: 401, value: { said: [headers, url.href] } }
    );
    const stores = {
      stores: {
        main: {
          url:
            `${server.origin}/secrets?key={{ .auth.password | urlencode }}&b={{ .auth.api_key }}`,
          headers: { Authorization: "Bearer {{ .auth.token }}", "X-Api-Key": literal },
          json_path: "{{ .remote_ref.item }}.value",
        },
      },
    };
    return {
      server,
      settings: {
        SECRET_PROVIDER_WEBHOOK_STORES: JSON.stringify(stores),
        SECRET_PROVIDER_AUTH_TOKEN: token,
        SECRET_PROVIDER_AUTH_PASSWORD: password,
        SECRET_PROVIDER_AUTH_APIKEY: basic.replace(/[^A-Za-z0-9]/g, ""),
      },
      reference: { store_ref: "main", remote_ref: { item: "shop" } },
      credentials: [token, password, literal],
    };
  },
};

describe("secret canaries of secret stores", () => {
  let house: CanaryHouse;
  before(async () => {
    house = await createCanaryHouse();
  });
  after(() => house.close());

  for (const [name, stock] of Object.entries(PROVIDERS)) {
    it(`${name}: stay silent when it answers, refuses, repeats credentials and is away`, async () => {
      const { canaries } = house;
      const value = canaries.make(`secret of ${name}`);
      const stocked = await stock(value, (what) => canaries.make(`${name} ${what}`, "header"));
      const { server, settings, reference, credentials } = stocked;
      try {
        await house.restart({ SECRET_PROVIDER: name, ...settings });
        const stack = `swt-canary-${name.replace("_", "-")}`;
        await house.repository.commit({
          ".stackwright.yaml": configFile({ name: stack, external_secrets: { VALUE: reference } }),
          "compose.yaml": composeFile({ web: service({ environment: { A: "${VALUE}" } }) }),
        });
        const good = await house.poll({ url: house.urls.token });
        assert.equal(good.status, "succeeded", JSON.stringify(good));
        const given = house.engine.containers().find((each) => each.name.startsWith(stack));
        assert.ok(given?.env.includes(`A=${value}`), given?.env.join());
        const echo = { message: credentials.join(" "), errors: [value, ...credentials] };
        const faults: Fault[] = [
          { status: 401, value: echo },
          { status: 403, value: echo },
          { status: 404, value: echo },
          { status: 400, value: { ...echo, error_description: credentials[0], __type: value } },
          { status: 500, text: `<html>${credentials.join("\n")}` },
          { status: 200, text: credentials.join() },
          "drop",
        ];
        for (const fault of faults) {
          server.fail(fault);
          const bad = await house.poll({ url: house.urls.token });
          assert.equal(bad.status, "failed", JSON.stringify(bad));
        }
        await house.assertSilent(/^$/);
      } finally {
        await server.close();
      }
    });
  }
});
