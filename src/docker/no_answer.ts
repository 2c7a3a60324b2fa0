/** A request of a client of HTTP, as far as it tells of no answer. */
interface Waiting {
  on(event: "information", listener: () => void): unknown;
  on(
    event: "upgrade",
    listener: (incoming: unknown, socket: { destroy(): unknown }) => void,
  ): unknown;
  destroy(): unknown;
}

/** Answers that only say that one will come: an engine sends one at most. */
const MOST_ANNOUNCED = 10;

/** Ends a request that would never come to an answer, but to announcements of one or another protocol. */
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
