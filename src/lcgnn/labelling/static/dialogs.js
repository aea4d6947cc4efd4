// Questions in a window of their own: a class's name, what to merge it into, and which keys there are.

import { byId, clip, counted, make } from "./dom.js";

const KEYS = [
  ["1 – 9", "Give the class with that number"],
  ["/", "Type a class: Enter gives the one of just that name, or makes it. ↓ and ↑ choose another; ⏎ marks what Enter gives"],
  ["s", "Skip this node"],
  ["u", "Not sure: nobody can tell"],
  ["z or ⌫", "Undo the last answer"],
  ["n", "Back to the next suggestion"],
  ["e", "Explain this node, on the card and on the map"],
  ["f", "Find a node by its id"],
  ["m", "Go to the map: arrows move it, + and − zoom, 0 shows all"],
  ["?", "This list"],
];

function open(title, ...children) {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    make("h2", { id: "dialog-title" }, ...title),
    ...children.filter((child) => child !== null),
    make("button", {
      type: "button",
      class: "close",
      "aria-label": "Close",
      text: "×",
      onclick: () => dialog.close(),
    }),
  );
  dialog.showModal();
  return dialog;
}

/** A form of one question; it closes once `act` has worked, and stays open where the server refused. */
function ask({ label, field, button, act }) {
  const trouble = make("p", { class: "refused", role: "alert" });
  return make(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        if (!field.value.trim()) return;
        const refused = await act(field.value.trim());
        if (refused) trouble.textContent = refused;
        else byId("dialog").close();
      },
    },
    make("label", { for: field.id, text: label }),
    make("div", { class: "line" }, field, make("button", { type: "submit", class: "main", text: button })),
    trouble,
  );
}

const nameField = (id, value = "") => {
  const field = make("input", { id, type: "text", autocomplete: "off", required: true });
  field.value = value;
  return field;
};

export class Dialogs {
  constructor(session, keys) {
    this.session = session;
    this.keys = keys;
    session.on("trouble", (words) => {
      this.refused = words;
    });
  }

  /** What the server said against it, or null. */
  async #attempt(change) {
    this.refused = null;
    if (await change()) return null;
    const refused = this.refused ?? "It was not saved.";
    // Said here, it need not stand above the page as well.
    this.session.tell("trouble", null);
    return refused;
  }

  addClass() {
    open(
      ["Add a class"],
      ask({
        label: "Name",
        field: nameField("classname"),
        button: "Add",
        act: (name) => this.#attempt(() => this.session.addClass(name)),
      }),
    );
    byId("classname").focus();
  }

  editClass(index) {
    const { classes } = this.session.state;
    const { name, given } = classes[index];
    let called = name;
    const become = async (to, change) => {
      const refused = await this.#attempt(change);
      if (!refused) called = to;
      return refused;
    };
    const others = classes.filter((_, at) => at !== index);
    const target = make(
      "select",
      { id: "mergeinto", required: true },
      make("option", { value: "", text: "Choose a class" }),
      ...others.map((other) => make("option", { value: other.name, text: clip(other.name, 80) })),
    );
    const dialog = open(
      ["Class ", make("bdi", { text: clip(name, 60) })],
      ask({
        label: "New name",
        field: nameField("classname", name),
        button: "Rename",
        act: (to) => (to === name ? null : become(to, () => this.session.renameClass(name, to))),
      }),
      others.length
        ? ask({
            label: `Merge it (${counted(given, "label")}) into another class`,
            field: target,
            button: "Merge",
            act: (to) => become(to, () => this.session.mergeClass(name, to)),
          })
        : null,
    );
    byId("classname").select();
    // The button that was pressed is another one by then, as the table is.
    const buttons = () => byId("classlist").querySelectorAll(".dots");
    dialog.addEventListener("close", () => buttons()[this.session.indexOf(called)]?.focus(), { once: true });
  }

  help() {
    const box = make("input", { type: "checkbox", onchange: (event) => this.keys.turn(event.target.checked) });
    box.checked = this.keys.on;
    open(
      ["Keys"],
      make(
        "dl",
        { class: "keys" },
        ...KEYS.flatMap(([key, words]) => [
          make("dt", {}, make("kbd", { text: key })),
          make("dd", { text: words }),
        ]),
      ),
      make("label", { class: "check" }, box, " Letters and numbers work as keys"),
      make("p", {
        class: "hint",
        text: `Every answer is saved at once, before the next node is shown, in ${clip(this.session.graph?.ledger ?? "labels.csv", 300)}. Nothing leaves this machine.`,
      }),
    );
  }
}
