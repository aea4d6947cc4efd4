// Everything that is asked of the server: one line of words where it fails, and the connection is tried for again.

const VERSION = 1;
/** An explanation may take seconds, and a large layout that is not kept yet a minute. */
const PATIENCE = 120000;
const RETRY = [500, 1000, 2000, 4000];

export class ServerError extends Error {
  constructor(words, status) {
    super(words);
    this.status = status;
    /** Nobody answers this page any more, whatever it asks. */
    this.cut = status === 0 || status === 401;
  }
}

export const LOST =
  "The server does not answer. What was saved is safe. The page goes on if the connection comes back; " +
  "if you start lcgnn label again, open the link that it prints.";
const ENDED = "This page's session has ended. Open the link that lcgnn label printed last.";

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
      ...options,
    });
  } catch {
    throw new ServerError(LOST, 0);
  }
  if (answer.ok) return answer;
  let words = `The server answered ${answer.status}.`;
  try {
    words = (await answer.json()).error ?? words;
  } catch {
    // Not our JSON: the status is all there is to say.
  }
  throw new ServerError(answer.status === 401 ? ENDED : words, answer.status);
}

/** What an answer holds; it may break off after its first bytes. */
async function whole(read) {
  try {
    return await read();
  } catch {
    throw new ServerError(LOST, 0);
  }
}

async function message(answer) {
  const read = await whole(() => answer.json());
  if (read.version !== VERSION)
    throw new ServerError("The server speaks another version than this page: reload the page.", 0);
  return read;
}

export const get = async (path) => message(await ask(path));
export const getBytes = async (path) => {
  const answer = await ask(path);
  return whole(() => answer.arrayBuffer());
};
export const getFile = (path) => ask(path);

export const post = async (path, body) =>
  message(
    await ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

/** Calls `changed(revision)` at every event, `lost(words)` when the connection breaks, `back()` once it is there. */
export function listen({ changed, lost, back }) {
  let tries = 0;
  const open = () => {
    const events = new EventSource("/api/events");
    events.addEventListener("state", (event) => changed(JSON.parse(event.data).revision));
    events.onerror = () => {
      // The browser's own retry gives up for good on any answer but 200, and never says which it was.
      events.close();
      lost(LOST);
      retry();
    };
  };
  const retry = () =>
    setTimeout(
      async () => {
        try {
          await get("/api/state");
        } catch (error) {
          lost(error.message);
          tries += 1;
          retry();
          return;
        }
        tries = 0;
        open();
        back();
      },
      RETRY[Math.min(tries, RETRY.length - 1)],
    );
  open();
}
