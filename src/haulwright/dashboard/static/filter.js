// Suggestions below the filter: for the word at the cursor, from the server. Arrows choose, Enter or Tab takes one.
const WAIT_MS = 120;

const wordAt = (bar) => {
  const end = bar.selectionStart;
  const begin = bar.value.lastIndexOf(" ", end - 1) + 1;
  return { begin, end, word: bar.value.slice(begin, end) };
};

const build = (bar) => {
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Words of the filter");
  list.hidden = true;
  bar.removeAttribute("list"); // this one knows the word at the cursor; the browser's own list does not
  bar.setAttribute("role", "combobox");
  bar.setAttribute("aria-controls", list.id);
  bar.setAttribute("aria-expanded", "false");
  bar.setAttribute("aria-autocomplete", "list");
  bar.after(list);
  return list;
};

export const startFilter = () => {
  const bar = document.querySelector("[data-words]");
  if (!bar) return;
  const list = build(bar);
  let chosen = -1;
  let timer = null;
  let asked = 0;

  const close = () => {
    list.hidden = true;
    list.replaceChildren();
    chosen = -1;
    bar.setAttribute("aria-expanded", "false");
    bar.removeAttribute("aria-activedescendant");
  };
  const choose = (index) => {
    const items = [...list.children];
    chosen = (index + items.length) % items.length;
    items.forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
    bar.setAttribute("aria-activedescendant", items[chosen].id);
    items[chosen].scrollIntoView({ block: "nearest" });
  };
  const take = (index) => {
    const { begin, end } = wordAt(bar);
    const word = list.children[index].dataset.word;
    const tail = /[:.]$/.test(word) ? "" : " ";
    bar.setRangeText(word + tail, begin, end, "end");
    close();
    if (!tail) ask();
  };
  const show = (words) => {
    list.replaceChildren(...words.map((suggestion, place) => {
      const item = document.createElement("li");
      item.id = `suggestion-${place}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.word = suggestion.word;
      const word = document.createElement("b");
      word.textContent = suggestion.word;
      const help = document.createElement("span");
      help.textContent = suggestion.help;
      item.append(word, " ", help);
      item.addEventListener("mousedown", (event) => { event.preventDefault(); take(place); });
      return item;
    }));
    list.hidden = !words.length;
    bar.setAttribute("aria-expanded", String(!list.hidden));
  };
  const ask = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++asked;
      const url = `${bar.dataset.words}?word=${encodeURIComponent(wordAt(bar).word)}`;
      try {
        const answer = await fetch(url, { headers: { Accept: "application/json" } });
        if (answer.ok && number === asked && document.activeElement === bar) show((await answer.json()).words);
      } catch { close(); }
    }, WAIT_MS);
  };

  bar.addEventListener("input", ask);
  bar.addEventListener("blur", close);
  bar.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.hidden) { ask(); event.preventDefault(); return; }
    if (list.hidden || !list.children.length) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
};
