/** The part of an HTTP client's request that reports informational answers. */
interface Waiting {
  on(event: "information", listener: () => void): unknown;
  on(
    event: "upgrade",
    listener: (incoming: unknown, socket: { destroy(): unknown }) => void,
  ): unknown;
  destroy(): unknown;
}

/** Limit of informational answers (status 1xx); engines send at most one. */
const MOST_ANNOUNCED = 10;

/** Ends a request that gets only informational answers, or a change of protocol. */
export function onNoAnswer(outgoing: Waiting, fail: (error: unknown) => void): void {
  let announced = 0;
  outgoing.on("information", () => {
    if (++announced <= MOST_ANNOUNCED) return;
    fail(new Error("it announces answers, and gives none"));
    outgoing.destroy();
  });
  outgoing.on("upgrade", (_incoming, socket) => {
    fail(new Error("it speaks another protocol than it was asked for"));
    socket.destroy();
    outgoing.destroy();
  });
}
