// Texts to take away: Python, command, link.
import { notify } from "./notices.js";

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify("copy", `${what} copied.`, { good: true });
  } catch {
    notify("copy", `The browser does not let the page copy. Select it by hand: ${text}`);
  }
}
