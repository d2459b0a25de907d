// Launch form and run page. The form works without this; it only saves a reload and a second press.
"use strict";

const launchForm = document.getElementById("launch");

if (launchForm) {
  // Tags and personas belong to the domain: the page comes again with what was typed.
  launchForm.elements.domain?.addEventListener("change", (event) => {
    event.stopPropagation(); // the summary of a page that is about to go is not worth asking for
    const typed = new URLSearchParams(new FormData(launchForm));
    for (const name of ["csrfmiddlewaretoken", "launch_key", "tags", "persona", "ids"]) typed.delete(name);
    location.assign(`${location.pathname}?${typed}`);
  });

  launchForm.addEventListener("submit", () => {
    // After the browser has taken the button's name along.
    setTimeout(() => (launchForm.querySelector("[data-once]").disabled = true));
  });
  addEventListener("pageshow", () => (launchForm.querySelector("[data-once]").disabled = false));
}
