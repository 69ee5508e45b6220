// Requests to the page's own server. All addresses are relative, so nothing is sent to other machines.
export class Refused extends Error {}
export class Unreachable extends Error {}

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", redirect: "error", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable("The server does not answer. It may have been stopped: start it again with “discreet explore”. What you see stays as it is.");
  }
  let content = null;
  try {
    content = await response.json();
  } catch {
    content = null;
  }
  if (response.ok && content !== null) return content;
  if (content?.error) throw new Refused(content.error);
  throw new Unreachable(`The server failed (${response.status}). The page stays as it is.`);
}

export const get = (path) => answer(path);
export const post = (path, body) =>
  answer(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
export const remove = (path) => answer(path, { method: "DELETE", keepalive: true });
export const sendFile = (name, body) =>
  answer("api/file", {
    method: "POST",
    body,
    headers: { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(name), "x-not-private": "yes" },
  });
