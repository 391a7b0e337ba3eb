// Requests to the server that the page came from. Where it wants a key, the reader is asked for it; the tab keeps it.
(() => {
  const NAME = "deberta-key";
  let asked = null; // the question that is open: requests that wait share it

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // The key, or null where the reader leaves the question.
  function askForKey(why) {
    asked ??= new Promise((resolve) => {
      const input = element("input", { type: "password", id: "key", autocomplete: "off", required: true });
      const form = element("form", {}, element("p", { textContent: why }), element("label", {}, "Key ", input), " ", element("button", { textContent: "Go on" }));
      const dialog = element("dialog", {}, form);
      const end = (key) => { dialog.remove(); asked = null; resolve(key); };
      form.addEventListener("submit", (event) => { event.preventDefault(); end(input.value.trim()); });
      dialog.addEventListener("cancel", () => end(null));
      document.body.append(dialog);
      dialog.showModal();
    });
    return asked;
  }

  // fetch(), with the key.
  globalThis.askServer = async (path, options = {}) => {
    for (let why = "This server wants a key.";; why = "The server does not know this key.") {
      const key = sessionStorage.getItem(NAME);
      const headers = key ? { ...options.headers, authorization: `Bearer ${key}` } : options.headers;
      const response = await fetch(path, { ...options, ...(headers && { headers }) });
      if (response.status !== 401) return response;
      if (sessionStorage.getItem(NAME) !== key) continue; // another request was given one meanwhile
      const given = await askForKey(why);
      if (given === null) return response;
      sessionStorage.setItem(NAME, given);
    }
  };
})();
