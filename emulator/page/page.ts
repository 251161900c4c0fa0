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
          max-width: 1720px;
          margin: 0 auto;
          padding: 16px 20px;
        }
        header {
          position: sticky;
          top: 0;
          z-index: 1;
          display: flex;
          flex-wrap: wrap;
          gap: 4px 24px;
          align-items: baseline;
          padding-block: 10px;
          background: var(--paper);
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
          grid-template-columns: minmax(0, 1fr);
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
        .heading {
          display: flex;
          flex-wrap: wrap;
          justify-content: space-between;
          align-items: baseline;
          gap: 8px 16px;
          margin-bottom: 10px;
        }
        .heading > * {
          margin: 0;
        }
        .soft,
        .none {
          color: var(--soft);
        }
        .scroll {
          overflow: auto;
          max-height: 60vh;
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
        .grid {
          display: grid;
          grid-template-columns: repeat(auto-fill, minmax(min(var(--least), 100%), 1fr));
          gap: 8px;
        }
        .faults {
          --least: 255px;
        }
        .faults button {
          display: grid;
          align-content: start;
        }
        .cards {
          --least: 255px;
          align-items: start;
          list-style: none;
          margin: 0;
          padding: 0;
        }
        .cards > :not(.none) {
          display: flex;
          flex-wrap: wrap;
          gap: 2px 12px;
          align-content: start;
          border: 1px solid var(--line);
          border-radius: 8px;
          padding: 8px 10px;
        }
        /* A long name is whole, because its end is what tells one instance from another. */
        .name {
          flex: 1 1 100%;
          font-weight: 600;
          overflow-wrap: anywhere;
        }
        details {
          flex: 1 1 100%;
        }
        summary {
          cursor: pointer;
          font-size: 13px;
          overflow-wrap: anywhere;
        }
        pre {
          margin: 4px 0;
          white-space: pre-wrap;
          overflow-wrap: anywhere;
        }
        #faults,
        #other-faults {
          display: contents;
        }
        #message {
          color: var(--red);
        }
        button,
        input,
        dialog {
          font: inherit;
          color: var(--ink);
          background: var(--paper);
          border: 1px solid var(--line);
          border-radius: 8px;
          padding: 6px 12px;
        }
        button {
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
        :focus-visible {
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
        .heading button {
          padding: 2px 10px;
        }
        .heading small {
          display: inline;
        }
        .requests {
          list-style: none;
          margin: 0;
          padding: 0;
        }
        .requests > :not(.none) {
          display: grid;
          grid-template: "time request response" / auto 1fr auto;
          gap: 0 12px;
          align-items: baseline;
          padding: 4px 0;
          border-bottom: 1px solid var(--line);
          font-variant-numeric: tabular-nums;
        }
        .request {
          grid-area: request;
          overflow-wrap: anywhere;
        }
        .response {
          grid-area: response;
        }
        .actions button {
          font-size: 13px;
          padding: 1px 8px;
        }
        dialog {
          background: var(--card);
          padding: 14px 16px;
          width: min(420px, 90vw);
        }
        dialog::backdrop {
          background: rgb(0 0 0 / 45%);
        }
        dialog input {
          display: block;
          width: 100%;
          margin: 4px 0 12px;
        }
        progress {
          width: 100%;
          height: 8px;
          accent-color: var(--blue);
        }
        .windows {
          --least: 340px;
          column-gap: 24px;
        }
        @media (max-width: 600px) {
          h1 {
            font-size: 16px;
          }
          [aria-labelledby="instances-title"] {
            order: -1;
          }
          .requests > :not(.none) {
            grid-template: "time response" "request request" / auto 1fr;
          }
        }
        @media (min-width: 1200px) {
          main {
            grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
          }
          .wide {
            grid-column: 1 / -1;
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
        <section class="wide" tabindex="-1" aria-labelledby="faults-title">
          <div class="heading">
            <h2 id="faults-title">Faults</h2>
            <span class="soft">
              The next create: <code>npm start -- up -c count=3</code>, or
              <code>pulumi up</code> with one more instance in your program.
            </span>
          </div>
          <div class="grid faults">
            <span id="faults"></span>
            <span id="other-faults"></span>
          </div>
        </section>
        <section tabindex="-1" aria-labelledby="instances-title">
          <div class="heading">
            <h2 id="instances-title">Instances <span id="instance-count" class="soft"></span></h2>
            <div class="buttons">
              <button type="button" class="main" id="finish">
                Finish provisioning <small>makes all ready</small>
              </button>
              <button type="button" class="main" id="add">
                Add an instance <small>that no stack has</small>
              </button>
            </div>
          </div>
          <div class="scroll" tabindex="0" role="region" aria-labelledby="instances-title">
            <ul id="instances" class="grid cards"></ul>
          </div>
        </section>
        <section aria-labelledby="requests-title">
          <div class="heading">
            <h2 id="requests-title">Requests</h2>
            <span class="soft">newest first</span>
          </div>
          <div class="scroll" tabindex="0" role="region" aria-labelledby="requests-title">
            <ul id="requests" class="requests"></ul>
          </div>
        </section>
        <section class="wide" aria-labelledby="windows-title">
          <h2 id="windows-title">Rate limit: requests in the window</h2>
          <div id="windows" class="grid windows"></div>
        </section>
      </main>
      <dialog id="rename" aria-labelledby="rename-title">
        <form method="dialog">
          <h2 id="rename-title">Rename the instance</h2>
          <label>New name <input id="new-name" required autocomplete="off" /></label>
          <div class="buttons">
            <button class="main" value="rename">Rename</button>
            <button value="cancel" formnovalidate>Cancel</button>
          </div>
        </form>
      </dialog>
      <script>
        "use strict";
        const byId = (id) => document.getElementById(id);

        function element(tag, text, className) {
          const made = document.createElement(tag);
          if (text !== undefined) setText(made, text);
          if (className) made.className = className;
          return made;
        }

        // An element whose text has not changed keeps a selection.
        function setText(shown, text) {
          if (shown.textContent === String(text)) return;
          shown.textContent = text;
          shown.title = text;
        }

        function button(text, onClick) {
          const made = element("button", text);
          made.type = "button";
          made.addEventListener("click", onClick);
          return made;
        }

        /*
         * Returns what shows a list of items in an element. "make" makes the element of an item, and the function that
         * updates it. The element stays as long as its item, so that a button in it keeps the focus.
         */
        function listIn(id, keyOf, make, empty) {
          const parent = byId(id);
          let shown = new Map();
          return (items) => {
            shown = new Map(
              items.map((item) => {
                const key = keyOf(item);
                const { made, update } = shown.get(key) ?? make(item);
                update(item);
                return [key, { made, update }];
              }),
            );
            const wanted = [...shown.values()].map(({ made }) => made);
            if (wanted.length === 0 && empty !== undefined) wanted.push(empty);
            for (const child of [...parent.children].filter((child) => !wanted.includes(child))) {
              if (child.contains(document.activeElement)) parent.closest("section").focus();
              child.remove();
            }
            wanted.forEach((child, index) => {
              const present = parent.children[index] ?? null;
              if (present !== child) parent.insertBefore(child, present);
            });
          };
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
            effect: "each request gets a 429",
            end: "until the next click; the run goes on",
            script: { kind: "status", status: 429, retryAfter: 1, code: "rate_limit_exceeded" },
          },
          {
            title: "Server errors",
            effect: "each request gets a 503",
            end: "until the next click; the run waits a minute, then pulumi up again",
            script: { kind: "status", status: 503 },
          },
          {
            title: "Sold out",
            effect: "the next create is refused (422)",
            end: "once; the run takes a fallback flavor, or pulumi up again",
            script: {
              kind: "status",
              method: "POST",
              times: 1,
              status: 422,
              code: "flavor_sold_out",
              message: "No instance of this flavor can be created at the moment.",
            },
          },
          {
            title: "Slow responses",
            effect: "each takes 3 s",
            end: "until the next click; the run goes on",
            script: { kind: "delay", milliseconds: 3000 },
          },
          {
            title: "Lagging list",
            effect: "shows new instances 20 s late",
            end: "until the next click; the run waits for them",
            script: { kind: "appearsAfter", seconds: 20, method: "POST" },
          },
          {
            title: "Lost response",
            effect: "the next create is made, but not answered",
            end: "once; the run finds the instance",
            script: { kind: "reset", method: "POST", acted: true, times: 1 },
          },
          {
            title: "Never ready",
            effect: "the next instance stays in PROVISIONING",
            end: "once; its button ACTIVE ends it",
            script: { kind: "neverLeavesProvisioning", times: 1 },
          },
          {
            title: "OFFLINE",
            effect: "the next instance ends OFFLINE",
            end: "once; its button ACTIVE ends it",
            script: { kind: "endsAs", status: "OFFLINE", times: 1 },
          },
        ];
        let activeFaults = [];

        // A fault without a label has the name of its kind, which is another one on the only button for it.
        function titleOf(name) {
          const [only, another] = faults.filter(({ script }) => script.kind === name);
          return only && !another ? only.title : name;
        }

        async function call(method, path, body) {
          byId("message").textContent = "";
          try {
            const options =
              body === undefined ? { method } : { method, body: JSON.stringify(body) };
            const response = await fetch("/control/" + path, options);
            // Another page may have removed the fault or the instance already.
            if (!response.ok && response.status !== 404)
              throw new Error((await response.json()).message);
          } catch (error) {
            byId("message").textContent = error.message;
          }
        }

        function faultButton(title, end, onClick) {
          const made = button(title, onClick);
          const effect = element("small");
          const last = element("small");
          made.append(effect, element("small", end), last);
          const update = (own, effectWhenOff) => {
            const isOn = own.some(({ isSpent }) => !isSpent);
            const hits = own.reduce((sum, fault) => sum + fault.hits, 0);
            made.setAttribute("aria-pressed", String(isOn));
            setText(effect, isOn ? "on; met by " + counted(hits, "request") : effectWhenOff);
            setText(last, hits > 0 ? "last met by " + own.at(-1).metBy : "");
          };
          return { made, update };
        }

        const labelled = (title) => activeFaults.filter(({ label }) => label === title);
        const switchOff = ({ id }) => call("DELETE", "faults/" + id);

        for (const fault of faults) {
          const { title, end, script } = fault;
          const { made, update } = faultButton(title, end, async () => {
            const own = labelled(title);
            if (!own.some(({ isSpent }) => !isSpent))
              await call("POST", "faults", { times: "always", ...script, label: title });
            for (const earlier of own) await switchOff(earlier);
          });
          fault.update = update;
          byId("faults").append(made);
        }
        byId("finish").addEventListener("click", () => call("POST", "finish-provisioning"));
        byId("address").textContent = location.origin + "/v2";

        // Faults that were switched on by a request and not here.
        const showOtherFaults = listIn(
          "other-faults",
          // An emulator that is started again counts its faults from 1.
          ({ id, kind, label }) => [id, kind, label].join(),
          (fault) => {
            const title = titleOf(fault.label ?? fault.kind);
            const { made, update } = faultButton(title, "until the next click", () =>
              switchOff(fault),
            );
            return { made, update: (now) => update([now]) };
          },
        );

        function showFaults(active) {
          activeFaults = active;
          for (const { title, effect, update } of faults) update(labelled(title), effect);
          const titles = faults.map(({ title }) => title);
          showOtherFaults(
            active.filter((other) => !other.isSpent && !titles.includes(other.label)),
          );
        }

        const instancePath = (id) => "instances/" + encodeURIComponent(id);
        let renamed, opener;

        function openRename(instance, itsButton) {
          renamed = instance;
          opener = itsButton;
          const input = byId("new-name");
          input.value = instance.name;
          byId("rename").returnValue = "";
          byId("rename").showModal();
          input.select();
        }
        byId("rename").addEventListener("close", () => {
          // If the instance is gone meanwhile, so is the button that would get the focus back.
          if (!opener.isConnected) byId("instances").closest("section").focus();
          const name = byId("new-name").value;
          if (byId("rename").returnValue === "rename")
            call("PATCH", instancePath(renamed.id), { name });
        });

        let shownInstances = [];
        byId("add").addEventListener("click", () => {
          const names = shownInstances.map(({ name }) => name);
          let number = 1;
          while (names.includes("by-hand-" + number)) number++;
          // Of the kind of token that the program has.
          const tokenKind = shownInstances[0]?.tokenKind ?? "test";
          call("POST", "instances", { name: "by-hand-" + number, tokenKind });
        });

        const showInstances = listIn(
          "instances",
          ({ id }) => id,
          instanceCard,
          element("li", "There are no instances yet. Run pulumi up.", "none"),
        );

        function instanceCard({ id, tokenKind, request }) {
          let shown;
          const name = element("span", "", "name");
          const status = element("span");
          const since = element("span", "", "soft");
          const address = element("span", "", "mono");
          const details = element("details");
          const { flavor_id, image_id, vpc_id } = request;
          const made = [flavor_id, image_id, vpc_id].filter(Boolean).join(" · ");
          const json = JSON.stringify(request, null, 2);
          const origin = element("summary", made || "added by hand");
          details.append(origin, element("pre", made ? json : "no request", "mono"));
          const rename = button("Rename", () => openRename(shown, rename));
          const remove = button("Remove", () => call("DELETE", instancePath(id)));
          const change = button("", () =>
            call("PATCH", instancePath(id), { status: change.textContent }),
          );
          const actions = element("span", undefined, "actions buttons");
          actions.append(rename, remove, change);
          const update = (instance) => {
            shown = instance;
            setText(name, instance.name);
            setText(status, instance.status);
            status.className = instance.status;
            setText(since, "since " + time(instance.since));
            setText(address, instance.ipv4_public);
            setText(change, instance.status === "ACTIVE" ? "OFFLINE" : "ACTIVE");
            rename.ariaLabel = "Rename " + instance.name;
            remove.ariaLabel = "Remove " + instance.name;
            change.ariaLabel = "Make " + instance.name + " " + change.textContent;
            for (const button of [rename, remove, change])
              button.title = button.ariaLabel + " at the service; pulumi refresh then shows it";
          };
          const card = element("li");
          const token = element("span", tokenKind + " token", "soft");
          card.append(name, status, since, address, element("span", id, "mono"), token);
          card.append(details, actions);
          return { made: card, update };
        }

        const showRequests = listIn(
          "requests",
          ({ id }) => id,
          requestRow,
          element("li", "There are no requests yet.", "none"),
        );

        function requestRow({ method, path, query, name }) {
          const parameters = new URLSearchParams(query).toString();
          const target = parameters ? path + "?" + parameters : path;
          const text = method + " " + target + (name === undefined ? "" : " " + name);
          const at = element("span", "", "soft");
          const request = element("span", "", "request mono");
          const response = element("span");
          const update = ({ at: latest, count, status, faults: faultNames }) => {
            setText(at, time(latest));
            setText(request, text + (count > 1 ? " × " + count : ""));
            const faultText = faultNames.length
              ? " (" + faultNames.map(titleOf).join(", ") + ")"
              : "";
            setText(response, (status ?? "no answer") + faultText);
            const look = status === undefined ? "pending" : status < 400 ? "ok" : "bad";
            response.className = "response " + look;
          };
          const made = element("li");
          made.append(at, request, response);
          return { made, update };
        }

        const windowName = ({ endpoint, tokenKind, tokenNumber }) =>
          endpoint +
          ", " +
          (tokenKind === undefined ? "token" : tokenKind + " token") +
          " " +
          tokenNumber;
        const showWindows = listIn(
          "windows",
          windowName,
          windowBar,
          element("span", "There are no requests in any window.", "none"),
        );

        function windowBar(shownWindow) {
          const text = element("span", "", "mono");
          const bar = element("progress");
          const made = element("div");
          made.append(text, bar);
          const update = ({ count, limit }) => {
            setText(text, windowName(shownWindow) + ": " + count + " of " + limit);
            bar.max = limit;
            bar.value = count;
            bar.ariaLabel = text.textContent;
          };
          return { made, update };
        }

        function show({ instances, instanceCount, requests, windows, requestsPerMinute, faults }) {
          showFaults(faults);
          const isCut = instanceCount > instances.length;
          byId("instance-count").textContent =
            instanceCount +
            (isCut ? ", the newest " + instances.length + " shown" : ", newest first");
          shownInstances = instances;
          showInstances(instances);
          showRequests(requests);
          showWindows(windows.map((used) => ({ ...used, limit: requestsPerMinute })));
        }

        const events = new EventSource("/control/events");
        events.onopen = () => {
          byId("connection").textContent = "connected";
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
