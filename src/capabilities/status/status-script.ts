/**
 * Keeps the page as of now: asks for it again every five seconds, and puts what is new in place of what was there, part by part.
 * What is opened stays open, and nothing is read out by itself. The button stops and goes on.
 */
export const STATUS_SCRIPT = `
const button = document.querySelector('button');
let isOn = true;
button.hidden = false;
button.addEventListener('click', () => {
  isOn = !isOn;
  button.textContent = isOn ? 'Pause' : 'Go on';
  if (isOn) refresh();
});
async function refresh() {
  try {
    const response = await fetch('/', { headers: { accept: 'text/html' } });
    if (!response.ok) throw new Error();
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-part]')) {
      const other = fresh.querySelector('[data-part="' + part.dataset.part + '"]');
      if (other !== null && other.innerHTML !== part.innerHTML) part.replaceChildren(...other.childNodes);
    }
  } catch {
    document.querySelector('[data-part=at]').textContent = 'This Portico does not answer any more.';
  }
}
setInterval(() => { if (isOn && !document.hidden) refresh(); }, 5000);
`;
