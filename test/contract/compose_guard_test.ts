import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { env } from "node:process";
import { describe, it } from "node:test";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { randomFrom } from "../fakes/random.ts";
import { COMPOSE_FILES, repositoryFrom } from "./guard_cases.ts";
import { GuardWorld, type Outcome } from "./guard_world.ts";

/** Repositories that are tried; `./scripts/test all` asks for more. */
const CASES = Number(env["GUARD_CASES"] ?? 30);
/** The first of them: a seed that a failure printed, with GUARD_CASES=1, shows it alone. */
const SEED = Number(env["GUARD_SEED"] ?? 1);
/** Directories whose files may tell that they were read; the second is on no disk. */
const DIRECTORIES = [tmpdir(), "/dev/shm"];

for (const plugin of composePlugins()) {
  describe(`what compose reads while it renders, ${plugin === "" ? "installed" : plugin}`, () => {
    it(`was looked at before, in ${CASES} repositories from seed ${SEED}`, async (context) => {
      const command = await createComposeCommand(plugin);
      const environment = { DOCKER_CONFIG: command.configDirectory };
      const worlds = DIRECTORIES.filter((each) => existsSync(each)).map((each) =>
        new GuardWorld(each, ["docker", "compose"], environment)
      );
      try {
        const world = worlds.find((each) => each.noticesReads);
        if (world === undefined) return context.skip("NOT TRIED: no directory tells what is read");
        const ends = { refused: 0, failed: 0, rendered: 0 };
        for (let seed = SEED; seed < SEED + CASES; seed++) {
          const repository = repositoryFrom(randomFrom(seed));
          const outcome: Outcome = await world.try(repository);
          const { end, unseen, otherwise, message } = outcome;
          ends[end]++;
          const text = COMPOSE_FILES.map((path) => repository.get(path)).join("\n=== more\n");
          const how: string =
            `GUARD_SEED=${seed} GUARD_CASES=1 shows it again\n${text}\n${message}`;
          assert.deepEqual(otherwise, [], `compose acts otherwise than was rendered; ${how}`);
          assert.deepEqual(unseen, [], `compose (${end}) read what nobody had looked at; ${how}`);
        }
        // Else nothing was tried.
        assert.ok(CASES < 50 || ends.rendered > CASES / 20, JSON.stringify(ends));
      } finally {
        worlds.forEach((each) => each.close());
        await command.close();
      }
    });
  });
}
