// The page's parts, put together: every part listens to the session and knows nothing of the others' insides.

import { Brings } from "./brings.js";
import { Card } from "./card.js";
import { Dialogs } from "./dialogs.js";
import { byId, show } from "./dom.js";
import { offerExports } from "./exports.js";
import { Keys } from "./keys.js";
import { GraphMap } from "./map/map.js";
import { Notices } from "./notices.js";
import { Search } from "./search.js";
import { ServerError } from "./server.js";
import { Session } from "./session.js";

const session = new Session();
new Notices(session);
const map = new GraphMap(session);
const card = new Card(session, map);
let dialogs;
const keys = new Keys(session, { card, dialogs: () => dialogs });
dialogs = new Dialogs(session, keys);
new Brings(session, { editClass: (index) => dialogs.editClass(index) });
new Search(session);
offerExports(session);

byId("addclass").addEventListener("click", () => dialogs.addClass());
byId("help").addEventListener("click", () => dialogs.help());
byId("simulate").addEventListener("change", (event) => session.simulate(event.target.checked));
session.on("graph", () => show(byId("simulator"), session.graph.simulator));
session.on("state", () => {
  byId("simulate").checked = session.state.simulating;
});

// In a narrow or low window the card ends where the window does, which takes what CSS cannot tell: how much is above.
const above = new ResizeObserver(() =>
  document.body.style.setProperty("--above", `${document.querySelector("main").offsetTop}px`),
);
above.observe(document.querySelector("header"));
above.observe(byId("notices"));

async function start() {
  try {
    await session.start();
    session.tell("connection", null);
    document.body.classList.add("ready");
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    session.tell("connection", error.message);
    setTimeout(start, 2000);
  }
}

start();
