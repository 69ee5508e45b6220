// Poll a job on the server until it ends.
import { get } from "./server.js";

const PAUSE = 200;

export async function follow(job, wanted, { progress, done }) {
  let seen = 0;
  while (wanted()) {
    const { messages, ended } = await get(`api/job/${job}?seen=${seen}`);
    if (!wanted()) return;
    seen += messages.length;
    for (const [kind, ...rest] of messages) {
      if (kind === "progress") progress(...rest);
      else if (kind === "done") await done(...rest);
      else throw new Error(rest[0]);
    }
    if (ended) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}
