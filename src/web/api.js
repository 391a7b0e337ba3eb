// Requests to the server that the page came from: its keys, its JSON, its errors.
import { element } from "./dom.js";

const KEY = "deberta-key"; // of the tab's storage, which keeps the reader's key
let question = null; // the one that is open: requests that wait share it

// The key that the reader gives, or null where the question is left.
function askForKey(why) {
  question ??= new Promise((resolve) => {
    const input = element("input", { type: "password", id: "key", autocomplete: "off", required: true });
    const form = element("form", {}, element("p", { textContent: why }), element("label", {}, "Key ", input), " ",
      element("button", { textContent: "Go on" }));
    const dialog = element("dialog", {}, form);
    const end = (key) => {
      dialog.remove();
      question = null;
      resolve(key);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      end(input.value.trim());
    });
    dialog.addEventListener("cancel", () => end(null));
    document.body.append(dialog);
    dialog.showModal();
  });
  return question;
}

// fetch(), with the key; where the server wants one, the reader is asked.
export async function ask(path, options = {}) {
  for (let why = "This server wants a key.";; why = "The server does not know this key.") {
    const key = sessionStorage.getItem(KEY);
    const headers = key ? { ...options.headers, authorization: `Bearer ${key}` } : options.headers;
    const response = await fetch(path, { ...options, ...(headers && { headers }) });
    if (response.status !== 401) return response;
    if (sessionStorage.getItem(KEY) !== key) continue; // another request was given one meanwhile
    const given = await askForKey(why);
    if (given === null) return response;
    sessionStorage.setItem(KEY, given);
  }
}

// The options of a request with a body, JSON as text, to a model.
export const postOf = (text, model) =>
  ({ method: "POST", headers: { "content-type": "application/json", "x-model": model }, body: text });

// The response, unless it is an error: then an Error with its message and its status. A route's `error` is a text or an
// object.
async function answerOf(response) {
  if (response.ok) return response;
  const told = await response.json().catch(() => null); // a proxy may answer a page
  const message = told?.error?.message || told?.error || `${response.status} ${response.statusText}`;
  throw Object.assign(new Error(message), { status: response.status });
}

// The JSON that a route answers; with a body, to a request of that model. An AbortSignal ends it.
export async function askJson(path, body, model, signal) {
  const response = await answerOf(await ask(path, { ...(body && postOf(JSON.stringify(body), model)), signal }));
  return response.json();
}

export async function askBytes(path, signal) {
  const response = await answerOf(await ask(path, { signal }));
  return response.arrayBuffer();
}
