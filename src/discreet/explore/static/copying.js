// Texts to copy: Python code, command, link.
import { make } from "./dom.js";
import { notify } from "./notices.js";

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify("copy", `${what} is copied.`, { good: true });
  } catch {
    notify("copy", `The browser does not let the page copy. Select it by hand: ${text}`);
  }
}
