// Brings the page back to its top, where a message stands: whoever pressed a button far down doesn't see it there. What
// ended by itself doesn't take the page from under somebody who is typing. On a narrow screen the side bar lies over the
// page: what was begun there closes it, as a link in it does.
export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.getRootNode();
  const place = root.host ?? parentElement;
  const typing = document.activeElement?.matches("input, textarea, [contenteditable=true], canvas");
  if (data.pressed || !typing) place.closest('[data-testid="stMain"]')?.scrollTo({ top: 0 });
  if (data.closesSide && window.innerWidth < 768)
    document.querySelector('[data-testid="stSidebar"][data-collapsed="false"] [data-testid="stSidebarCollapseButton"] button')?.click();
}
