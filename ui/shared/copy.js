// A button that puts a text into the clipboard, and says so. Without a secure address there is no clipboard to ask, so
// the text is selected and copied as by hand.
export default function (component) {
  const { data, parentElement } = component;
  const button = parentElement.querySelector("button");
  const said = parentElement.querySelector('[role="status"]');
  button.querySelector("span").textContent = data.label;
  button.onclick = async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(data.text);
    } catch {
      const field = document.createElement("textarea");
      field.value = data.text;
      parentElement.querySelector(".copy").append(field);
      field.select();
      copied = document.execCommand("copy");
      field.remove();
    }
    said.textContent = copied ? data.done : data.failed;
  };
}
