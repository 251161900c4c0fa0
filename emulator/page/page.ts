import { createHash } from "node:crypto";
import type { ServiceResponse } from "../http/response";

/**
 * The page, in a string so that every bundle contains it. The script shows all that comes from the service as text and
 * never as HTML, because the names of instances may contain any characters.
 */
const html = /* HTML */ `<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>Compute Instances Service, emulated</title>
      <link rel="icon" href="data:," />
      <style>
        :root {
          color-scheme: light dark;
          --ink: light-dark(#1b1f2a, #e6e8ee);
          --soft: light-dark(#5b6475, #9aa3b5);
          --line: light-dark(#d9dde5, #323846);
          --paper: light-dark(#f6f7f9, #14171e);
          --card: light-dark(#ffffff, #1b1f28);
          --blue: light-dark(#2457c5, #82a8ff);
          --green: light-dark(#17734a, #5fd39b);
          --amber: light-dark(#8a5a00, #f0b95a);
          --red: light-dark(#b3261e, #ff8a80);
        }
        * {
          box-sizing: border-box;
        }
        body {
          margin: 0;
          background: var(--paper);
          color: var(--ink);
          font:
            15px/1.45 system-ui,
            sans-serif;
        }
        header,
        main {
          max-width: 1180px;
          margin: 0 auto;
          padding: 16px 20px;
        }
        header {
          display: flex;
          flex-wrap: wrap;
          gap: 8px 24px;
          align-items: baseline;
        }
        h1 {
          font-size: 19px;
          margin: 0;
        }
        h2 {
          font-size: 15px;
          margin: 0 0 10px;
        }
        main {
          display: grid;
          grid-template-columns: minmax(0, 7fr) minmax(0, 5fr);
          gap: 16px;
          padding-top: 0;
        }
        section {
          background: var(--card);
          border: 1px solid var(--line);
          border-radius: 10px;
          padding: 14px 16px;
          min-width: 0;
        }
        .wide {
          grid-column: 1 / -1;
        }
        .soft,
        .none {
          color: var(--soft);
        }
        .scroll {
          overflow: auto;
          max-height: 46vh;
        }
        table {
          border-collapse: collapse;
          width: 100%;
        }
        th,
        td {
          text-align: left;
          padding: 4px 12px 4px 0;
          border-bottom: 1px solid var(--line);
          white-space: nowrap;
          max-width: 300px;
          overflow: hidden;
          text-overflow: ellipsis;
          font-variant-numeric: tabular-nums;
        }
        th {
          color: var(--soft);
          font-weight: 500;
          font-size: 13px;
        }
        code,
        .mono {
          font-family: ui-monospace, monospace;
          font-size: 13px;
        }
        .ACTIVE,
        .ok {
          color: var(--green);
        }
        .PROVISIONING,
        .pending {
          color: var(--amber);
        }
        .OFFLINE,
        .bad {
          color: var(--red);
        }
        .buttons {
          display: flex;
          flex-wrap: wrap;
          gap: 8px;
        }
        #faults {
          display: contents;
        }
        #message {
          color: var(--red);
        }
        #other-faults {
          margin: 10px 0 0;
        }
        #other-faults:empty {
          display: none;
        }
        button {
          font: inherit;
          color: var(--ink);
          background: var(--paper);
          border: 1px solid var(--line);
          border-radius: 8px;
          padding: 6px 12px;
          text-align: left;
          cursor: pointer;
        }
        button small {
          display: block;
          color: var(--soft);
        }
        button:hover {
          border-color: var(--blue);
        }
        button:focus-visible {
          outline: 2px solid var(--blue);
          outline-offset: 2px;
        }
        button[aria-pressed="true"] {
          background: var(--red);
          border-color: var(--red);
          color: light-dark(#fff, #14171e);
        }
        button[aria-pressed="true"] small {
          color: inherit;
        }
        button.main {
          border-color: var(--blue);
          color: var(--blue);
        }
        progress {
          width: 100%;
          height: 8px;
          accent-color: var(--blue);
        }
        .windows > div {
          margin-bottom: 8px;
        }
        @media (max-width: 860px) {
          main {
            grid-template-columns: minmax(0, 1fr);
          }
        }
      </style>
    </head>
    <body>
      <header>
        <h1>Compute Instances Service, emulated</h1>
        <code id="address"></code>
        <span id="connection" role="status" class="soft">connecting</span>
        <span id="message" role="alert"></span>
      </header>
      <main>
        <section class="wide" aria-labelledby="faults-title">
          <h2 id="faults-title">Faults</h2>
          <div class="buttons">
            <span id="faults"></span>
            <button type="button" class="main" id="settle">
              Settle
              <small>end provisioning now</small>
              <small>heals a run that waits</small>
            </button>
          </div>
          <p id="other-faults" class="soft"></p>
        </section>
        <section class="wide" aria-labelledby="instances-title">
          <h2 id="instances-title">Instances <span id="instance-count" class="soft"></span></h2>
          <div class="scroll" tabindex="0" role="region" aria-labelledby="instances-title">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Status</th>
                  <th scope="col">Since</th>
                  <th scope="col">Address</th>
                  <th scope="col">Id</th>
                  <th scope="col">Token</th>
                </tr>
              </thead>
              <tbody id="instances"></tbody>
            </table>
          </div>
        </section>
        <section aria-labelledby="requests-title">
          <h2 id="requests-title">Requests</h2>
          <div class="scroll" tabindex="0" role="region" aria-labelledby="requests-title">
            <table>
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">Request</th>
                  <th scope="col">Response</th>
                </tr>
              </thead>
              <tbody id="requests"></tbody>
            </table>
          </div>
        </section>
        <section aria-labelledby="windows-title">
          <h2 id="windows-title">Rate limit: requests in the window</h2>
          <div id="windows" class="windows"></div>
        </section>
      </main>
      <script>
        "use strict";
        const byId = (id) => document.getElementById(id);

        function element(tag, text, className) {
          const made = document.createElement(tag);
          if (text !== undefined) {
            made.textContent = text;
            made.title = text;
          }
          if (className) made.className = className;
          return made;
        }

        function row(...cells) {
          const made = element("tr");
          made.append(...cells);
          return made;
        }

        function emptyRow(columns, text) {
          const cell = element("td", text, "none");
          cell.colSpan = columns;
          return row(cell);
        }

        function time(value) {
          const date = new Date(value);
          const isToday = date.toDateString() === new Date().toDateString();
          const options = { hourCycle: "h23" };
          return isToday ? date.toLocaleTimeString([], options) : date.toLocaleString([], options);
        }

        const counted = (count, thing) => count + " " + thing + (count === 1 ? "" : "s");

        // The label of a fault is its title here, so that each open page shows which faults are on.
        const faults = [
          {
            title: "429 storm",
            effect: "every request gets a 429",
            heals: "click again: the run goes on",
            script: { kind: "status", status: 429, retryAfter: 1, code: "rate_limit_exceeded" },
          },
          {
            title: "Server errors",
            effect: "every request gets a 503",
            heals: "click again, and run pulumi up again",
            script: { kind: "status", status: 503 },
          },
          {
            title: "Lost response",
            effect: "on the next create",
            heals: "nothing to do: the run finds the instance",
            script: { kind: "reset", method: "POST", acted: true, times: 1 },
          },
          {
            title: "Slow responses",
            effect: "each takes 3 s",
            heals: "click again: the run goes on",
            script: { kind: "delay", milliseconds: 3000 },
          },
          {
            title: "Lagging list",
            effect: "shows creates 20 s late",
            heals: "nothing to do: the run waits for them",
            script: { kind: "appearsAfter", seconds: 20, method: "POST" },
          },
        ];
        let activeFaults = [];

        async function call(method, path, body) {
          byId("message").textContent = "";
          try {
            const options =
              body === undefined ? { method } : { method, body: JSON.stringify(body) };
            const response = await fetch("/control/" + path, options);
            // Another page may have removed the fault already.
            if (!response.ok && response.status !== 404)
              throw new Error((await response.json()).message);
          } catch (error) {
            byId("message").textContent = error.message;
          }
        }

        for (const fault of faults) {
          const { title, script } = fault;
          const button = element("button", title);
          button.type = "button";
          button.setAttribute("aria-pressed", "false");
          fault.button = button;
          fault.text = element("small", fault.effect);
          button.append(fault.text, element("small", fault.heals));
          button.addEventListener("click", async () => {
            const active = activeFaults.filter(({ label }) => label === title);
            if (active.length === 0)
              await call("POST", "faults", { times: "always", ...script, label: title });
            for (const { id } of active) await call("DELETE", "faults/" + id);
          });
          byId("faults").append(button);
        }
        byId("settle").addEventListener("click", () => call("POST", "settle"));
        byId("address").textContent = location.origin + "/v2";

        function showFaults(active) {
          activeFaults = active;
          for (const { title, effect, button, text } of faults) {
            const own = active.filter(({ label }) => label === title);
            const hits = own.reduce((sum, fault) => sum + fault.hits, 0);
            button.setAttribute("aria-pressed", String(own.length > 0));
            text.textContent = own.length === 0 ? effect : "on; met by " + counted(hits, "request");
          }
          const titles = faults.map(({ title }) => title);
          const others = active.filter(({ label }) => !titles.includes(label));
          const described = others.map(
            ({ kind, label, hits }) =>
              (label ?? kind) + " (met by " + counted(hits, "request") + ")",
          );
          byId("other-faults").textContent = others.length
            ? "Also on: " + described.join(", ")
            : "";
        }

        function instanceRow({ name, status, since, ipv4_public, id, tokenKind }) {
          return row(
            element("td", name),
            element("td", status, status),
            element("td", time(since), "soft"),
            element("td", ipv4_public, "mono"),
            element("td", id, "mono"),
            element("td", tokenKind),
          );
        }

        function requestRow({ at, method, path, query, name, status, faults }) {
          const parameters = new URLSearchParams(query).toString();
          const target = parameters ? path + "?" + parameters : path;
          const outcome = status === undefined ? "pending" : status < 400 ? "ok" : "bad";
          const faultText = faults.length ? " (fault: " + faults.join(", ") + ")" : "";
          return row(
            element("td", time(at), "soft"),
            element("td", method + " " + target + (name === undefined ? "" : " " + name), "mono"),
            element("td", (status ?? "none yet") + faultText, outcome),
          );
        }

        function windowBar({ endpoint, tokenKind, tokenNumber, count }, limit) {
          const kind = tokenKind === undefined ? "token" : tokenKind + " token";
          const text = endpoint + ", " + kind + " " + tokenNumber + ": " + count + " of " + limit;
          const bar = element("progress");
          bar.max = limit;
          bar.value = count;
          bar.setAttribute("aria-label", text);
          const box = element("div");
          box.append(element("span", text, "mono"), bar);
          return box;
        }

        // Replaces the content of an element only if it has changed, so that a selection stays.
        const shown = new Map();
        function showIn(id, data, make) {
          const json = JSON.stringify(data);
          if (shown.get(id) === json) return;
          shown.set(id, json);
          byId(id).replaceChildren(...make());
        }

        function show({ instances, instanceCount, requests, windows, requestsPerMinute, faults }) {
          showFaults(faults);
          const isCut = instanceCount > instances.length;
          byId("instance-count").textContent =
            instanceCount + (isCut ? ", the newest " + instances.length + " shown" : "");
          showIn("instances", instances, () =>
            instances.length > 0
              ? instances.map(instanceRow)
              : [emptyRow(6, "There are no instances yet. Run pulumi up.")],
          );
          showIn("requests", requests, () =>
            requests.length > 0
              ? requests.map(requestRow)
              : [emptyRow(3, "There are no requests yet.")],
          );
          showIn("windows", windows, () =>
            windows.length > 0
              ? windows.map((it) => windowBar(it, requestsPerMinute))
              : [element("span", "There are no requests in any window.", "none")],
          );
        }

        const events = new EventSource("/control/events");
        events.onopen = () => {
          byId("connection").textContent = "live";
        };
        events.onerror = () => {
          const isLost = events.readyState === EventSource.CLOSED;
          byId("connection").textContent = isLost
            ? "The emulator sends no updates. Reload the page."
            : "The emulator does not answer. Trying again.";
        };
        events.onmessage = ({ data }) => show(JSON.parse(data));
      </script>
    </body>
  </html> `;

/** The page may run the script above, use the style above and call the emulator, and nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src ${hashOf("script")}`,
  `style-src ${hashOf("style")}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The hash by which a policy names the one inline element with this tag. */
function hashOf(tag: "script" | "style"): string {
  const start = html.indexOf(`<${tag}>`) + tag.length + 2;
  const content = html.slice(start, html.indexOf(`</${tag}>`));
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/** Returns the page. */
export function pageResponse(): ServiceResponse {
  return {
    status: 200,
    headers: {
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    },
    text: html,
    contentType: "text/html; charset=utf-8",
  };
}
