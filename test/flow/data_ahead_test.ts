import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeFile, configFile, service } from "./compose_text.ts";
import { renders, withMeanwhile } from "./meanwhile.ts";
import { pollTo } from "./steps.ts";

describe("the data of a removed stack that waits for the run's other stacks", () => {
  for (
    const [what, volumes, how] of [
      ["keeps", "false", "unnamed"],
      ["deletes", "true", "unnamed"],
      ["keeps", "false", "destroyed"],
    ] as const
  ) {
    it(`is what a person ${what} who removes the project meanwhile, where it is ${how}`, () =>
      withMeanwhile(async (world, before) => {
        const never = new AbortController().signal;
        const [a, b] = [`${world.stack}-a`, `${world.stack}-b`];
        const file = (name: string) => `apps/${name}/compose.yaml`;
        const discovery = {
          working_dir: "apps",
          auto_discovery: { enabled: true, delete: true, remove_volumes: true },
        };
        const web = service({ volumes: ["data:/data"] });
        await world.repository.commit({
          ".stackwright.yaml": configFile(discovery),
          [file(a)]: composeFile({ web }, { volumes: { data: {} } }),
          [file(b)]: composeFile({ web: service() }),
        });
        await pollTo(world, "succeeded");
        if (how === "unnamed") await world.repository.remove([file(a)]);
        await world.repository.commit({
          ...how === "destroyed" && { [`apps/${a}/.stackwright.yaml`]: "destroy: true\n" },
          [file(b)]: composeFile({ web: service({ hostname: "b" }) }),
        });
        const left = () => world.engine.listContainers({ "com.docker.compose.project": a }, never);
        const answers: number[] = [];
        before(renders, async () => {
          while ((await left()).length > 0) await new Promise((done) => setTimeout(done, 10));
          const path = `/v1/api/project/${a}?volumes=${volumes}`;
          answers.push((await world.request(path, { method: "DELETE" })).status);
        });
        await pollTo(world, "succeeded");
        const names = (await world.engine.listVolumes({}, never)).map(({ name }) => name);
        assert.deepEqual([answers, names], [
          [200],
          volumes === "false" ? [`${a}_data`] : [],
        ]);
      }));
  }
});
