// htmx may turn answers of this server into elements, and nothing may become code: no eval is handed to it.
"use strict";
(() => {
  const same = { createHTML: (text) => text, createScript: () => "" };
  const policy = globalThis.trustedTypes ? trustedTypes.createPolicy("htmx", same) : same;
  const refuse = function () { throw new TypeError("No code in attributes here."); };
  htmx.registerExtension("trust", { init: (api) => api.initSecurity(policy, refuse, refuse) });
})();
