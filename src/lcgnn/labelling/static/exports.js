// What can be taken home. A refusal is said in the page; a plain link would put it in a file.

import { byId, make } from "./dom.js";
import { getFile, ServerError } from "./server.js";

const named = (answer, name) =>
  /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? name;

export function offerExports(session) {
  const menu = byId("exports");
  session.on("graph", () => {
    byId("next-command").textContent = session.graph.next_command;
  });
  for (const button of menu.querySelectorAll("[data-export]")) {
    button.addEventListener("click", async () => {
      menu.open = false;
      menu.querySelector("summary").focus();
      const name = button.dataset.export;
      try {
        const answer = await getFile(`/api/export/${name}`);
        const address = URL.createObjectURL(await answer.blob());
        make("a", { href: address, download: named(answer, name) }).click();
        setTimeout(() => URL.revokeObjectURL(address), 60000);
        session.tell("trouble", null);
      } catch (error) {
        if (!(error instanceof ServerError)) throw error;
        session.tell("trouble", error.message);
      }
    });
  }
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}
