import { Buffer } from "node:buffer";
import { bytesOf, machine, openLibrary } from "./c_library.ts";
import { type KernelLimit, kernelLimits, type Limits } from "./limits.ts";

/** Numbers of calls; see `landlock.ts`. */
const EXECVE = { x64: 59n, arm64: 221n };
const PRLIMIT = { x64: 302n, arm64: 261n };

/** The kernel's numbers of what it limits. */
const RESOURCES: Readonly<Record<KernelLimit[0], bigint>> = {
  ...{ cpu: 0n, fsize: 1n, data: 2n, stack: 3n, core: 4n },
};

/**
 * Has this process become a program that has these limits and this environment. No other program
 * stands in between, `prlimit` neither, which would have to start with that environment as well.
 *
 * Throws where the kernel refuses; this process must end then, it is limited by now.
 */
export async function becomeProgram(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  limits: Limits,
): Promise<never> {
  const own = machine();
  if (own === undefined) throw new Error("calls of the kernel are not known on this machine");
  const { syscall, refusal, address } = await openLibrary();
  const text = (each: string) => Buffer.from(`${each}\0`);
  const texts = {
    argv: argv.map(text),
    env: Object.entries(env).map((each) => text(each.join("="))),
  };
  const list = (each: readonly Uint8Array[]) =>
    bytesOf([...each.map((one) => [8, address(one)] as const), [8, 0n]]);
  const lists = { argv: list(texts.argv), env: list(texts.env) };
  const path = text(argv[0]);
  const [program, words, variables] = [address(path), address(lists.argv), address(lists.env)];
  const told = kernelLimits(limits).map(([name, soft, hard]) => {
    const pair = bytesOf([[8, BigInt(soft)], [8, BigInt(hard)]]);
    return { name, resource: RESOURCES[name], pair, at: address(pair) };
  });
  // From here on this process may get no more memory: nothing is made that it has not.
  for (const { name, resource, at } of told) {
    if (syscall(PRLIMIT[own], 0n, resource, at) < 0n) {
      throw new Error(`no limit on ${name} was set`);
    }
  }
  syscall(EXECVE[own], program, words, variables);
  const number = refusal();
  // Kept until here: the kernel reads them where they lie.
  const kept = [path, ...texts.argv, ...texts.env, ...Object.values(lists)];
  const bytes = kept.reduce((sum, { length }) => sum + length, 0);
  throw new Error(`the kernel refuses it with ${bytes} bytes of arguments (errno ${number})`);
}
