// Copy what stands beside a button. On plain HTTP browsers have no clipboard: then it is selected, to be copied by hand.
const show = () => { for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false; };

export const startCopying = () => {
  show();
  document.addEventListener("htmx:after:swap", show); // what came new has its button too
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
};
