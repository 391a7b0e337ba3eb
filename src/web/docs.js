// The page of routes: openapi.json drawn, and each route tried.
import { ask, askJson, postOf } from "./api.js";
import { element } from "./dom.js";

const resolve = (openapi, value) =>
  value && value.$ref ? value.$ref.slice(2).split("/").reduce((at, key) => at[key], openapi) : value;

const chosenModel = () => document.getElementById("model").value;
const targetOf = (path) => path.replace("{model}", chosenModel()).replace("{task}", "zero-shot-classification");

function curl(method, path, body) {
  const line = `curl ${location.origin}${targetOf(path)}`;
  if (method === "get") return line;
  const headers = `-H 'content-type: application/json' -H 'x-model: ${chosenModel()}'`;
  return `${line} ${headers} \\\n    -d '${body.replaceAll("'", "'\\''")}'`;
}

async function send(method, path, body) {
  const begun = performance.now();
  const response = await ask(targetOf(path).slice(1) || "./", method === "get" ? {} : postOf(body, chosenModel()));
  let text = await response.text();
  const isJson = (response.headers.get("content-type") || "").includes("json");
  if (isJson) text = JSON.stringify(JSON.parse(text), null, 1);
  return `${response.status} in ${(performance.now() - begun).toFixed(0)} ms\n${text.slice(0, 20000)}`;
}

const contentOf = (operation) => operation.requestBody && operation.requestBody.content["application/json"];

// The fields of a route's body, as a table.
function fields(openapi, operation) {
  const content = contentOf(operation);
  const schema = content && resolve(openapi, content.schema);
  if (!schema || !schema.properties) return "";
  const table = element("table");
  for (const [name, value] of Object.entries(schema.properties)) {
    const needed = (schema.required || []).includes(name) ? "needed" : "";
    const kinds = (value.anyOf || [value]).map((kind) => resolve(openapi, kind));
    const about = kinds.map((kind) => kind.description).find(Boolean) || "";
    table.append(element("tr", {},
      element("td", {}, element("code", { textContent: name })),
      element("td", { textContent: needed }),
      element("td", { textContent: value.description || about })));
  }
  return table;
}

function statuses(openapi, operation) {
  const table = element("table");
  for (const [status, value] of Object.entries(operation.responses)) {
    table.append(element("tr", {},
      element("td", { textContent: status }),
      element("td", { textContent: resolve(openapi, value).description })));
  }
  return element("details", {},
    element("summary", { textContent: "statuses" }),
    element("div", { className: "inside" }, table));
}

function route(openapi, path, method, operation) {
  const content = contentOf(operation);
  const example = JSON.stringify(content ? content.example : {});
  const body = element("textarea", { value: example, spellcheck: false, ariaLabel: "body" });
  const line = element("pre"), answer = element("pre", { hidden: true });
  const show = () => { line.textContent = curl(method, path, body.value); };
  body.addEventListener("input", show);
  globalThis.addEventListener("model", show);
  const button = element("button", { textContent: "Send" });
  button.addEventListener("click", async () => {
    answer.hidden = false;
    answer.textContent = "…";
    answer.textContent = await send(method, path, body.value).catch(String);
  });
  const inside = element("div", { className: "inside" },
    fields(openapi, operation), ...(content ? [body] : []), line, button, answer, statuses(openapi, operation));
  const summary = element("summary", {},
    element("b", { textContent: method.toUpperCase() }),
    element("code", { textContent: path }),
    element("span", { textContent: operation.summary }));
  show();
  return element("details", { id: operation.operationId }, summary, inside);
}

async function main() {
  const [openapi, models] = await Promise.all([askJson("openapi.json"), askJson("v1/models")]);
  document.getElementById("about").textContent = openapi.info.description;
  const select = document.getElementById("model");
  select.append(...models.data.map((model) => element("option", { textContent: model.id })));
  select.addEventListener("change", () => globalThis.dispatchEvent(new Event("model")));
  const routes = document.getElementById("routes");
  for (const { name } of openapi.tags) {
    routes.append(element("h2", { textContent: name }));
    for (const [path, methods] of Object.entries(openapi.paths)) {
      for (const [method, operation] of Object.entries(methods))
        if (operation.tags[0] === name) routes.append(route(openapi, path, method, operation));
    }
  }
  const asked = location.hash && document.getElementById(location.hash.slice(1));
  if (asked) asked.open = true;
}

main().catch((error) => { document.getElementById("routes").textContent = String(error); });
