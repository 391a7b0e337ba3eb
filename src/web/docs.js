// The page of routes: openapi.json drawn, and each route tried.

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const resolve = (document, value) =>
  value && value.$ref ? value.$ref.slice(2).split("/").reduce((at, key) => at[key], document) : value;

const model = () => document.getElementById("model").value;
const target = (path) => path.replace("{model}", model()).replace("{task}", "zero-shot-classification");
const origin = () => location.origin;

const curl = (method, path, body) =>
  method === "get" ? `curl ${origin()}${target(path)}`
    : `curl ${origin()}${target(path)} -H 'content-type: application/json' -H 'x-model: ${model()}' \\\n    -d '${body.replaceAll("'", "'\\''")}'`;

async function send(method, path, body) {
  const begun = performance.now();
  const options = method === "get" ? {} : { method: "POST", headers: { "content-type": "application/json", "x-model": model() }, body };
  const response = await askServer(target(path).slice(1) || "./", options);
  let text = await response.text();
  if ((response.headers.get("content-type") || "").includes("json")) text = JSON.stringify(JSON.parse(text), null, 1);
  return `${response.status} in ${(performance.now() - begun).toFixed(0)} ms\n${text.slice(0, 20000)}`;
}

function fields(document, operation) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const schema = content && resolve(document, content.schema);
  if (!schema || !schema.properties) return "";
  const table = element("table");
  for (const [name, value] of Object.entries(schema.properties)) {
    const needed = (schema.required || []).includes(name) ? "needed" : "";
    const about = (value.anyOf || [value]).map((one) => resolve(document, one)).map((one) => one.description).find(Boolean) || "";
    table.append(element("tr", {}, element("td", {}, element("code", { textContent: name })), element("td", { textContent: needed }),
      element("td", { textContent: value.description || about })));
  }
  return table;
}

function route(document, path, method, operation) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const body = element("textarea", { value: JSON.stringify(content ? content.example : {}), spellcheck: false, ariaLabel: "body" });
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
  const statuses = element("table");
  for (const [status, value] of Object.entries(operation.responses))
    statuses.append(element("tr", {}, element("td", { textContent: status }), element("td", { textContent: resolve(document, value).description })));
  const inside = element("div", { className: "inside" }, fields(document, operation), ...(content ? [body] : []), line, button, answer,
    element("details", {}, element("summary", { textContent: "statuses" }), element("div", { className: "inside" }, statuses)));
  const details = element("details", { id: operation.operationId }, element("summary", {},
    element("b", { textContent: method.toUpperCase() }), element("code", { textContent: path }), element("span", { textContent: operation.summary })), inside);
  show();
  return details;
}

async function main() {
  const [openapi, models] = await Promise.all(["openapi.json", "v1/models"].map(async (url) => (await askServer(url)).json()));
  document.getElementById("about").textContent = openapi.info.description;
  const select = document.getElementById("model");
  select.append(...models.data.map((one) => element("option", { textContent: one.id })));
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
