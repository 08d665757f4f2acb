// The page's data: JSON in script elements, which the browser does not run.

const parse = (id) => JSON.parse(document.getElementById(id).textContent);
const content = parse("data-content");
