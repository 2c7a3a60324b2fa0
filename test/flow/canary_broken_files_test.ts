import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sampleOf } from "../fakes/sample.ts";
import { type CanaryHouse, createCanaryHouse } from "./canary_house.ts";
import { PLAIN_IN_TREES, SHOP, shop, type ShopSecrets, shopSecrets, stock } from "./canary_shop.ts";

/** Files that are wrong, with one canary of each kind in them. */
const BROKEN: (word: string, quoted: string) => readonly (readonly [string, string])[] = (
  word,
  quoted,
) => [
  ["compose.yaml", `services:\n  web:\n    environment:\n      PASSWORD: "${word}\n`],
  ["compose.yaml", `services:\n  web:\n    environment:\n      PASSWORD: [${word}\n`],
  ["compose.yaml", `services:\n  web:\n    environment: DB_PASSWORD=${word}\n`],
  ["compose.yaml", `services:\n  web:\n    image: a\n  \tPASSWORD: ${word}\n`],
  [
    "compose.yaml",
    `services:\n  web:\n    environment:\n      - PASSWORD=${word}\n      - {a: b}\n`,
  ],
  ["compose.yaml", `services:\n  web: {image: a, environment: {PASSWORD: {a: "${word}"}}}\n`],
  ["compose.yaml", `services:\n  web: {image: a, labels: ["token=${word}", {a: b}]}\n`],
  ["compose.yaml", `services:\n  web: {image: a, build: {args: {TOKEN: ["${word}"]}}}\n`],
  ["compose.yaml", `services:\n  web: {image: a, env_file: {path: {TOKEN: "${word}"}}}\n`],
  ["compose.yaml", `services: {web: {image: a}}\nsecrets: {a: {content: {b: "${word}"}}}\n`],
  ...["!", "*", "|", "{"].flatMap((sign) =>
    [
      ["compose.yaml", `services:\n  web:\n    environment:\n      PASSWORD: ${sign}${word}\n`],
      [".stackwright.yaml", `name: ${SHOP}\nenvironment:\n  DB_PASSWORD: ${sign}${word}\n`],
    ] as const
  ),
  [".stackwright.yaml", `name: ${SHOP}\nenvironment: DB_PASSWORD=${word}\n`],
  [".stackwright.yaml", `name: ${SHOP}\nenvironment: {DB_PASSWORD: ["${word}"]}\n`],
  [".stackwright.yaml", `name: ${SHOP}\nenvironment: ["DB_PASSWORD=${word}"]\n`],
  [".stackwright.yaml", `name: ${SHOP}\nenvironment:\n  DB_PASSWORD: "${word}\n`],
  [".stackwright.yaml", `name: ${SHOP}\nenvironment:\n  A: *${word}\n`],
  [".stackwright.yaml", `name: ${SHOP}\nbuild: {args: "NPM_TOKEN=${word}"}\n`],
  [".stackwright.yaml", `name: ${SHOP}\nrepository_url: https://u:${word}@\n`],
  [".stackwright.yaml", `name: ${SHOP}\nrepository_url: https//u:${word}@h/r\n`],
  ["compose.yaml", `services:\n  web:\n    environment:\n      PASSWORD: "${word}\${"\n`],
  ["compose.yaml", `services:\n  web:\n    environment:\n      - PASSWORD=${word}\${\n`],
  [
    "compose.yaml",
    `services:\n  web:\n    image: a\n    environment:\n      PASSWORD: a$${word}\n`,
  ],
  ["compose.yaml", `services:\n  web:\n    command: [run, "--token=${word}\${"]\n`],
  ["compose.yaml", `services:\n  web:\n    labels:\n      a.token: ${word}\${A:+\n`],
  [".stackwright.yaml", `name: ${SHOP}\nenvironment: "DB_PASSWORD: ${word}"\n`],
  [".stackwright.yaml", `name: ${SHOP}\ntimeout: {DB_PASSWORD: "${word}"}\n`],
  ["dotenv.env", `PASSWORD=abc$${word}\n`],
  ["dotenv.env", `PASSWORD=${word}\${\n`],
  ["dotenv.env", `PASSWORD="${word}\${B"\n`],
  ["svc.env", `PASSWORD=abc$${word}\n`],
  ["svc.env", `PASSWORD=${word}\${\n`],
  ["dotenv.env", `A='x'\nB !='${quoted}'\nPASSWORD='${quoted}'\n`],
  ["dotenv.env", `PASSWORD="${word}\nOTHER=${word}\n`],
  ["dotenv.env", `PASSWORD='${word}\nOTHER=${word}\n`],
  ["dotenv.env", `A=\${B\nPASSWORD=${word}\n`],
  ["dotenv.env", `${quoted}\nPASSWORD='${quoted}'\n`],
  ["dotenv.env", `-----BEGIN KEY-----\n${word}\n-----END KEY-----\n`],
  ["svc.env", `B !='${quoted}'\nPASSWORD='${quoted}'\n`],
  ["svc.env", `PASSWORD='${word}\n`],
];

describe("secret canaries in files that are wrong", () => {
  let house: CanaryHouse;
  let secrets: ShopSecrets;

  before(async () => {
    house = await createCanaryHouse();
    secrets = shopSecrets(house.canaries);
    stock(house, secrets);
  });
  after(() => house.close());

  // ./scripts/test has ten minutes: it tries every eighth, and the gate each.
  for (const index of sampleOf([...BROKEN("", "").keys()], 8)) {
    const [name = "", pattern = ""] = BROKEN("…", "…")[index] ?? [];
    it(`${name} of ${JSON.stringify(pattern)}: are not repeated`, async () => {
      const { canaries } = house;
      const made = BROKEN(canaries.make("a word", "word"), canaries.make("a text", "quoted"));
      const [file = "", text = ""] = made[index] ?? [];
      await house.repository.commit({ ...await shop(house, secrets), [file]: text });
      const run = await house.poll({ url: house.urls.token });
      assert.notEqual(run.status, "");
      const directory = await house.repository.git("rev-parse", "--show-toplevel");
      await house.command(["validate", directory]);
      await house.command(["plan", "--json", "--ref", "main", house.urls.token]);
      await house.assertSilent(PLAIN_IN_TREES);
    });
  }
});
