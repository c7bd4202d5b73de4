// Counts what is in the basket; it lives in the browser only.
const KEY = "alder-basket";

function items() {
  return JSON.parse(localStorage.getItem(KEY) || "[]");
}

function show() {
  const count = items().length;
  document.getElementById("basket-count").textContent = `${count} items`;
}

function add(id) {
  localStorage.setItem(KEY, JSON.stringify([...items(), id]));
  show();
}

for (const button of document.querySelectorAll("button[data-product]")) {
  button.addEventListener("click", () => add(button.dataset.product));
}

show();
