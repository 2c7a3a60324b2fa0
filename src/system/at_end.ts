/** A resource for `using` that does something at the end of the block, however that ends; it must not throw. */
export function atEnd(work: () => unknown): Disposable {
  return { [Symbol.dispose]: () => void work() };
}
